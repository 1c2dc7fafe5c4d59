import type { KubernetesObject } from '../../../core/sdk.ts';
import { promotedPermissions } from '../promoted-permissions.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** A ClusterRole per entry of permissions, rules as written (spec section 9.7). */
export function clusterRoles({ csv }: RegistryBundle): readonly KubernetesObject[] {
  return promotedPermissions(csv).map(({ name, rules }) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: rules.map((rule) => rule.asWritten),
  }));
}
