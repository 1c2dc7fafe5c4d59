import { expect, it } from 'vitest';
import { aRegistryBundle } from '../../../test/helpers/registry-bundle.ts';
import { planInstallation } from '../plan-installation.ts';
import { otherObjects } from './other-objects.ts';

function apiVersionOf(apiVersion: string, kind: string): string | undefined {
  const bundle = aRegistryBundle({ others: [{ apiVersion, kind, metadata: { name: 'x' } }] });
  return otherObjects(bundle, planInstallation(bundle))[0]?.apiVersion;
}

it('gives kinds that OLM knows by name the API that they are of, where none is written', () => {
  expect(apiVersionOf('', 'ClusterRole')).toBe('rbac.authorization.k8s.io/v1');
  expect(apiVersionOf('', 'RoleBinding')).toBe('rbac.authorization.k8s.io/v1');
  expect(apiVersionOf('', 'ConfigMap')).toBe('v1');
  expect(apiVersionOf('', 'ServiceMonitor')).toBe('');
});

it('writes roles in the version that is left of their API, which has the same fields', () => {
  expect(apiVersionOf('rbac.authorization.k8s.io/v1beta1', 'Role')).toBe(
    'rbac.authorization.k8s.io/v1',
  );
  expect(apiVersionOf('rbac.authorization.k8s.io/v1alpha1', 'ClusterRole')).toBe(
    'rbac.authorization.k8s.io/v1',
  );
});

it("leaves other groups' kinds of the same name alone", () => {
  expect(apiVersionOf('iam.services.k8s.aws/v1alpha1', 'Role')).toBe(
    'iam.services.k8s.aws/v1alpha1',
  );
  expect(apiVersionOf('authorization.openshift.io/v1', 'RoleBinding')).toBe(
    'authorization.openshift.io/v1',
  );
});
