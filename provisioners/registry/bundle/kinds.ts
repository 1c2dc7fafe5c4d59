import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import { fieldOf, groupOf } from './objects.ts';

type Scope = 'Namespaced' | 'Cluster';

/**
 * Supported kinds in a bundle besides the CSV and CRDs, in any group: those of v0.16, and those
 * that OLM has added since.
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
  // Namespaced in the API; RukPak leaves its namespace as written, and so does this class.
  ['VerticalPodAutoscaler', 'Cluster'],
  ['ConsoleYAMLSample', 'Cluster'],
  ['ConsoleQuickStart', 'Cluster'],
  ['ConsoleCLIDownload', 'Cluster'],
  ['ConsoleLink', 'Cluster'],
  ['ConsolePlugin', 'Cluster'],
]);

/**
 * The scope of an object of a supported kind. A custom resource may have the same kind's name: if
 * the bundle contains its CRD, that has the scope.
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

/**
 * OLM reads these kinds in these versions, whatever the manifest says, so that real manifests omit
 * the version.
 */
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

/** Versions that no cluster serves any more, with equal fields in the present one. */
const goneVersions: ReadonlyMap<string, string> = new Map([
  ['rbac.authorization.k8s.io/v1alpha1', rbac],
  ['rbac.authorization.k8s.io/v1beta1', rbac],
  ['scheduling.k8s.io/v1alpha1', 'scheduling.k8s.io/v1'],
  ['scheduling.k8s.io/v1beta1', 'scheduling.k8s.io/v1'],
]);

/** The object in a served version, if the manifest names none or a removed one. */
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

/** A disruption budget with an empty selector selected no Pod, and selects all of them in v1. */
function selectsPods({ spec }: KubernetesObject): boolean {
  const { selector } = (spec ?? {}) as { readonly selector?: object | null };
  return Object.values(selector ?? {}).some((part: unknown) => Object.keys(part ?? {}).length > 0);
}

/** API groups of monitoring and of OpenShift's console, which an operator does not need. */
const optionalGroups: ReadonlySet<string> = new Set([
  'monitoring.coreos.com',
  'monitoring.rhobs',
  'console.openshift.io',
]);

/**
 * Marks objects as optional that a cluster may not need, so that the operator does not wait for
 * their kinds. The bundle's own annotation has priority.
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
