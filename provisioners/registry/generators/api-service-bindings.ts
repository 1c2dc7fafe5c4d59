import type { JsonObject, KubernetesObject } from '../../../core/sdk.ts';
import type { StrategyDeployment } from '../csv/cluster-service-version.ts';
import type { Installation } from '../installation/installation.ts';
import { serviceAccountOf } from '../permissions/service-account-name.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { serviceName } from '../webhooks/serving-names.ts';

const rbac = 'rbac.authorization.k8s.io';

/**
 * What a server of aggregated APIs needs to know who asks: it has the API server check tokens and
 * permissions, and reads by which certificate the API server is told.
 */
export function apiServiceBindings(
  { csv }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  const servers = new Set(csv.ownedApiServices.map(({ deploymentName }) => deploymentName));
  return csv.deployments
    .filter(({ name }) => servers.has(name))
    .flatMap((deployment) => bindings(deployment, installNamespace));
}

function bindings(deployment: StrategyDeployment, namespace: string): readonly KubernetesObject[] {
  const service = serviceName(deployment.name);
  const subjects = [{ kind: 'ServiceAccount', name: serviceAccountOf(deployment), namespace }];
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: `${service}-system:auth-delegator` },
      subjects,
      roleRef: roleRef('ClusterRole', 'system:auth-delegator'),
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: `${service}-auth-reader`, namespace: 'kube-system' },
      subjects,
      roleRef: roleRef('Role', 'extension-apiserver-authentication-reader'),
    },
  ];
}

function roleRef(kind: string, name: string): JsonObject {
  return { apiGroup: rbac, kind, name };
}
