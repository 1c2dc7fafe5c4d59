/** Helm's install order; unlisted kinds come last, by name. */
const kindOrder: readonly string[] = [
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
];

const rankByKind = new Map(kindOrder.map((kind, rank) => [kind, rank]));

interface HasResource {
  readonly resource: Pick<Resource, 'kind'>;
}

/**
 * One group per kind, in install order: a group may run in parallel, and the next one waits for it.
 */
import type { Resource } from '../../platform/kube/index.ts';
export function inKindOrder<T extends HasResource>(items: readonly T[]): T[][] {
  const byKind = Map.groupBy(items, (item) => item.resource.kind);
  return [...byKind]
    .sort(([a], [b]) => rankOf(a) - rankOf(b) || compareText(a, b))
    .map(([, group]) => group);
}

/** Namespaces and CRDs: other objects need them first. */
export function isNamespaceOrDefinition({
  group,
  kind,
}: Pick<Resource, 'group' | 'kind'>): boolean {
  return isNamespace({ group, kind }) || isDefinition({ group, kind });
}

export function isNamespace({ group, kind }: Pick<Resource, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Namespace';
}

export function isDefinition({ group, kind }: Pick<Resource, 'group' | 'kind'>): boolean {
  return group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition';
}

/** Kinds that run pods or scale them. */
export function isWorkload(kind: string): boolean {
  return rankOf('DaemonSet') <= rankOf(kind) && rankOf(kind) <= rankOf('CronJob');
}

/** Objects that workloads use: accounts, RBAC, configuration, volumes, Services. */
export function isBeforeWorkloads(kind: string): boolean {
  return rankOf(kind) < rankOf('DaemonSet');
}

function rankOf(kind: string): number {
  return rankByKind.get(kind) ?? kindOrder.length;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
