import type { KubernetesObject } from '../../core/sdk.ts';

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

/** Served by no cluster any more, and field by field the same as v1. */
const goneVersions: ReadonlySet<string> = new Set([
  'rbac.authorization.k8s.io/v1alpha1',
  'rbac.authorization.k8s.io/v1beta1',
]);

/** The object by an API that clusters serve, where the manifest names none or one that is gone. */
export function withServedApiVersion(object: KubernetesObject): KubernetesObject {
  const { apiVersion, kind } = object;
  if (goneVersions.has(apiVersion)) return { ...object, apiVersion: rbac };
  const implied = apiVersion === '' ? versionsByKind.get(kind) : undefined;
  return implied === undefined ? object : { ...object, apiVersion: implied };
}
