import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import { clusterPermissions } from '../permissions/permissions.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** A ClusterRole per entry of permissions at cluster scope. */
export function clusterRoles(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  return clusterPermissions(bundle, installation).map(({ name, rules }) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: rules.map((rule) => rule.asWritten),
  }));
}
