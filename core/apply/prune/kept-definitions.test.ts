import { expect, test } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import { anOwnedCRD, anOwnedEntry, aResource } from '../../../test/helpers/owned-entry.ts';
import { ApiError } from '../../platform/kube/index.ts';
import type { ListOptions } from '../../platform/kube/kube-client.ts';
import { orphanDefinitions } from './kept-definitions.ts';

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
