import type { KubernetesObject } from '../../../core/sdk.ts';

const rbac = 'rbac.authorization.k8s.io/v1';

/** Kinds that OLM reads as these whatever the manifest says, so that real manifests say nothing. */
const versionsByKind: ReadonlyMap<string, string> = new Map([
  ['ConfigMap', 'v1'],
  ['Secret', 'v1'],
  ['Service', 'v1'],
  ['ServiceAccount', 'v1'],
  ['ClusterRole', rbac],
  ['ClusterRoleBinding', rbac],
  ['Role', rbac],
  ['RoleBinding', rbac],
]);

/** Served by no cluster any more, and field by field the same as what is. */
const goneVersions: ReadonlyMap<string, string> = new Map([
  ['rbac.authorization.k8s.io/v1alpha1', rbac],
  ['rbac.authorization.k8s.io/v1beta1', rbac],
  ['scheduling.k8s.io/v1alpha1', 'scheduling.k8s.io/v1'],
  ['scheduling.k8s.io/v1beta1', 'scheduling.k8s.io/v1'],
]);

/** The object by an API that clusters serve, where the manifest names none or one that is gone. */
export function withServedApiVersion(object: KubernetesObject): KubernetesObject {
  const served = servedApiVersion(object);
  return served === undefined ? object : { ...object, apiVersion: served };
}

function servedApiVersion(object: KubernetesObject): string | undefined {
  const { apiVersion, kind } = object;
  if (apiVersion === '') return versionsByKind.get(kind);
  if (apiVersion === 'policy/v1beta1') return selectsPods(object) ? 'policy/v1' : undefined;
  return goneVersions.get(apiVersion);
}

/** A disruption budget with an empty selector was for no Pod, and is for all of them in v1. */
function selectsPods({ spec }: KubernetesObject): boolean {
  const { selector } = (spec ?? {}) as { readonly selector?: object | null };
  return Object.values(selector ?? {}).some((part: unknown) => Object.keys(part ?? {}).length > 0);
}
