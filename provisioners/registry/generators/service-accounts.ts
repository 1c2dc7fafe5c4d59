import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import { defaultServiceAccount, serviceAccountOf } from '../permissions/service-account-name.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** One per account that a deployment or permission names; `default` exists anyway. */
export function serviceAccounts(
  { csv }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  const users = [...csv.deployments, ...csv.permissions, ...csv.clusterPermissions];
  const names = new Set(users.map(serviceAccountOf));
  names.delete(defaultServiceAccount);
  return [...names].map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: installNamespace },
  }));
}
