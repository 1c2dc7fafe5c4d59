import { expect, test } from 'vitest';
import { inKindOrder, isNamespaceOrDefinition } from './order.ts';

function item(kind: string, group = '') {
  return { resource: { group, version: 'v1', kind, plural: '', namespaced: true } };
}

function ordered(...kinds: string[]): string[][] {
  return inKindOrder(kinds.map((kind) => item(kind))).map((group) =>
    group.map(({ resource }) => resource.kind),
  );
}

const helmOrder =
  'Namespace NetworkPolicy ResourceQuota LimitRange PodSecurityPolicy PodDisruptionBudget ' +
  'ServiceAccount Secret ConfigMap StorageClass PersistentVolume PersistentVolumeClaim ' +
  'CustomResourceDefinition ClusterRole ClusterRoleBinding Role RoleBinding Service DaemonSet Pod ' +
  'ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet Job CronJob ' +
  'IngressClass Ingress APIService';

test('kinds come in the order of the specification', () => {
  const kinds = helmOrder.split(' ');
  expect(ordered(...kinds.toReversed())).toEqual(kinds.map((kind) => [kind]));
});

test('unknown kinds come last, by name, each on its own', () => {
  expect(ordered('Zebra', 'Apple', 'APIService', 'Zebra', 'Namespace')).toEqual([
    ['Namespace'],
    ['APIService'],
    ['Apple'],
    ['Zebra', 'Zebra'],
  ]);
});

test('only real namespaces and CRDs are the foundation', () => {
  const foundation = (kind: string, group?: string) =>
    isNamespaceOrDefinition(item(kind, group).resource);
  expect(foundation('Namespace')).toBe(true);
  expect(foundation('CustomResourceDefinition', 'apiextensions.k8s.io')).toBe(true);
  expect(foundation('Namespace', 'example.com')).toBe(false);
  expect(foundation('CustomResourceDefinition')).toBe(false);
  expect(foundation('ConfigMap')).toBe(false);
});
