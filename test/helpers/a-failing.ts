import type { BundleSource } from '../../api/v1alpha1/index.ts';
import type { Failing } from '../../cmd/ctl/status/source-causes.ts';
import { aStoredDeployment, aTemplate } from './stored-objects.ts';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' };

/** BundleDeployment `demo` with one object, for remedies of its failures. */
export function aFailing(source?: BundleSource): Failing {
  const template = aTemplate('example.com/app:v1');
  const deployment = aStoredDeployment({
    template: source === undefined ? template : { ...template, spec: { ...template.spec, source } },
  });
  const items = [{ ...web, status: 'Current', message: '' }];
  const objects = { total: 1, healthy: 1, items, hidden: [] };
  return { name: 'demo', systemNamespace: 'rukpak-system', deployment, objects };
}
