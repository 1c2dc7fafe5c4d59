import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import { namespacedPermissions } from '../permissions/permissions.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** Binds each entry's account, which is in the install namespace, to the Role of the same name. */
export function roleBindings(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const { installNamespace } = installation;
  return namespacedPermissions(bundle, installation).map(
    ({ name, namespace, serviceAccountName }) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name, namespace },
      subjects: [{ kind: 'ServiceAccount', name: serviceAccountName, namespace: installNamespace }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    }),
  );
}
