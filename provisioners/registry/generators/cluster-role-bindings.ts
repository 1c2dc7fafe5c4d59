import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import { clusterPermissions } from '../permissions/permissions.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** Binds each entry's account to the ClusterRole of the same name. */
export function clusterRoleBindings(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const { installNamespace: namespace } = installation;
  return clusterPermissions(bundle, installation).map(({ name, serviceAccountName }) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    subjects: [{ kind: 'ServiceAccount', name: serviceAccountName, namespace }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
  }));
}
