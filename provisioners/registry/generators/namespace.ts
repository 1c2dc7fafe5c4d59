import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** The namespace that everything namespaced goes to. */
export function namespace(
  _bundle: RegistryBundle,
  { installNamespace, createsNamespace }: Installation,
): readonly KubernetesObject[] {
  if (!createsNamespace) return [];
  return [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: installNamespace } }];
}
