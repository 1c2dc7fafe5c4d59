import { annotation } from '../../api/v1alpha1/labels.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../core/sdk.ts';
import { fieldOf, groupOf } from './objects.ts';

type Scope = 'Namespaced' | 'Cluster';

/**
 * Kinds that a bundle may ship beside the CSV and CRDs, by kind alone whatever the group; those of
 * v0.16, and those that OLM has added since.
 */
export const supportedKinds: ReadonlyMap<string, Scope> = new Map([
  ['Secret', 'Namespaced'],
  ['ClusterRole', 'Cluster'],
  ['ClusterRoleBinding', 'Cluster'],
  ['ConfigMap', 'Namespaced'],
  ['ServiceAccount', 'Namespaced'],
  ['Service', 'Namespaced'],
  ['Role', 'Namespaced'],
  ['RoleBinding', 'Namespaced'],
  ['PrometheusRule', 'Namespaced'],
  ['ServiceMonitor', 'Namespaced'],
  ['PodMonitor', 'Namespaced'],
  ['PodDisruptionBudget', 'Namespaced'],
  ['NetworkPolicy', 'Namespaced'],
  ['PriorityClass', 'Cluster'],
  // The API has it namespaced; RukPak leaves its namespace as written, and so do we.
  ['VerticalPodAutoscaler', 'Cluster'],
  ['ConsoleYAMLSample', 'Cluster'],
  ['ConsoleQuickStart', 'Cluster'],
  ['ConsoleCLIDownload', 'Cluster'],
  ['ConsoleLink', 'Cluster'],
  ['ConsolePlugin', 'Cluster'],
]);

/**
 * The scope of an object of a supported kind. A custom resource may share no more than its kind's
 * name with the kind above: where the bundle has its CRD, that says what its scope is.
 */
export function scopeOf(
  { apiVersion, kind }: KubernetesObject,
  crds: readonly KubernetesObject[],
): Scope | undefined {
  const group = groupOf(apiVersion);
  const own = crds.map(specOf).find((spec) => {
    return fieldOf(fieldOf(spec, 'names'), 'kind') === kind && fieldOf(spec, 'group') === group;
  });
  if (own === undefined) return supportedKinds.get(kind);
  return fieldOf(own, 'scope') === 'Cluster' ? 'Cluster' : 'Namespaced';
}

function specOf(crd: KubernetesObject): JsonValue | undefined {
  return fieldOf(crd as JsonObject, 'spec');
}

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

/** API groups of monitoring and of OpenShift's console: an operator works without them. */
const optionalGroups: ReadonlySet<string> = new Set([
  'monitoring.coreos.com',
  'monitoring.rhobs',
  'console.openshift.io',
]);

/**
 * Marks objects that a cluster may have no use for, so that the operator does not wait for their
 * kinds. What the bundle says itself about an object counts.
 */
export function withOptionalKind(
  object: KubernetesObject,
  crds: readonly KubernetesObject[],
): KubernetesObject {
  const group = groupOf(object.apiVersion);
  const { metadata } = object;
  const isOwn = crds.some((crd) => fieldOf(specOf(crd), 'group') === group);
  if (!optionalGroups.has(group) || isOwn) return object;
  if (typeof metadata !== 'object' || metadata === null) return object;
  const annotations = { [annotation.optional]: 'true', ...metadata.annotations };
  return { ...object, metadata: { ...metadata, annotations } };
}
