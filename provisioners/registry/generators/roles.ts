import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import { namespacedPermissions } from '../permissions/permissions.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** A Role per entry of permissions in each namespace, where the operator does not watch all. */
export function roles(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return namespacedPermissions(bundle, installation).map(({ name, namespace, rules }) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name, namespace },
    rules: rules.map((rule) => rule.asWritten),
  }));
}
