import { expect, test } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { anOwnedCRD, anOwnedEntry, aResource } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import type { ListOptions } from '../../platform/kube/kube-client.ts';
import { orphanDefinitions, orphanOfLeftDefinitions } from './kept-definitions.ts';

const gizmos = aResource('Gizmo.example.com');
const keep = { 'core.rukpak.io/keep': 'true' };

/** What becomes of the CRD of these custom resources, each on a page of its own. */
async function judged(resources: readonly ObjectMeta[] | Error) {
  const crd = anOwnedCRD('Gizmo');
  const remove = [crd, anOwnedEntry('ConfigMap', { name: 'goes' })];
  const plan = await orphanDefinitions(
    { orphan: new Map(), remove, undecided: new Map() },
    {
      client: {
        list: async (_: unknown, { continue: token = '0', metadataOnly }: ListOptions = {}) => {
          if (resources instanceof Error) throw resources;
          expect(metadataOnly).toBe(true);
          const metadata = resources[Number(token)];
          const items = metadata === undefined ? [] : [{ metadata } as KubernetesObject];
          const next = String(Number(token) + 1);
          const more = Number(next) < resources.length ? { continue: next } : {};
          return { metadata: { resourceVersion: '1', ...more }, items };
        },
      },
      discovery: { resourceForGroupKind: async () => gizmos },
      signal: new AbortController().signal,
    },
  );
  return {
    because: plan.orphan.get(crd),
    undecided: plan.undecided.get(crd)?.message,
    removed: plan.remove.includes(crd),
  };
}

test('a CRD stays with a kept custom resource of anybody, on whatever page it is', async () => {
  const theirs = { name: 'theirs', namespace: 'n', annotations: keep };
  expect(await judged([{ name: 'other', namespace: 'n' }, theirs])).toEqual({
    because: 'Gizmo/n/theirs is kept, and the API server would delete it with its CRD',
    undecided: undefined,
    removed: false,
  });
});

test.each<[string, readonly ObjectMeta[] | Error]>([
  ['there is none', []],
  ['none is kept', [{ name: 'other' }]],
  ['the kept one is being deleted', [{ name: 'x', annotations: keep, deletionTimestamp: 't' }]],
  ['the CRD is gone', new ApiError(404, { reason: 'NotFound' })],
])('a CRD goes where %s', async (_, resources) => {
  const decided = { because: undefined, undecided: undefined, removed: true };
  expect(await judged(resources)).toEqual(decided);
});

test('a CRD waits while its custom resources cannot be listed', async () => {
  expect(await judged(new Error('conversion webhook failed'))).toEqual({
    because: undefined,
    undecided:
      'core cannot tell whether custom resources of gizmos.example.com are annotated to be kept: conversion webhook failed',
    removed: true,
  });
});

test('KeepCRDs holds for custom resources of a CRD that core orphaned before', async () => {
  const asked: string[] = [];
  const crd = anOwnedCRD('Gizmo').object;
  const client = (leftBy: string) => ({
    get: async (_: unknown, { name }: { readonly name: string }) => {
      asked.push(name);
      return {
        ...crd,
        metadata: { ...crd.metadata, annotations: { [annotation.leftBy]: leftBy } },
      };
    },
  });
  const gizmo = anOwnedEntry('Gizmo.example.com', { name: 'one' });
  const remove = [gizmo, anOwnedEntry('Deployment.apps', { name: 'web' })];
  const signal = new AbortController().signal;
  const planned = async (policy: DeletionPolicy, leftBy: string) => {
    const query = { owner: aStoredDeployment(), policy, client: client(leftBy), signal };
    const { orphan } = await orphanOfLeftDefinitions({ orphan: new Map(), remove }, query);
    return [...orphan];
  };
  expect(await planned('KeepCRDs', 'demo')).toEqual([[gizmo, 'the deletion policy is KeepCRDs']]);
  expect(await planned('KeepCRDs', 'another')).toEqual([]);
  expect(asked).toEqual(['gizmos.example.com', 'gizmos.example.com']);
  expect(await planned('Delete', 'demo')).toEqual([]);
});
