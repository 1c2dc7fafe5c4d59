import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';
import { isMap } from '../pod-template/template-parts.ts';
import { groupOf } from './api-group.ts';

export type Scope = 'Namespaced' | 'Cluster';

/**
 * Kinds beside the CSV and CRDs, told by kind alone whatever the group, and those
 * that OLM has learned since.
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
  const own = crds
    .map(specOf)
    .find((spec) => definedKind(spec) === kind && spec['group'] === group);
  if (own === undefined) return supportedKinds.get(kind);
  return own['scope'] === 'Cluster' ? 'Cluster' : 'Namespaced';
}

function specOf(crd: KubernetesObject): JsonObject {
  const { spec } = crd as JsonObject;
  return isMap(spec) ? spec : {};
}

function definedKind({ names }: JsonObject): JsonValue | undefined {
  return isMap(names) ? names['kind'] : undefined;
}
