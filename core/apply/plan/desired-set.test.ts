import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Resource } from '../../platform/kube/index.ts';
import { desiredHooks, desiredSet } from './desired-set.ts';

const resource: Resource = {
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  plural: 'jobs',
  namespaced: true,
};

function aRequest(...objects: readonly KubernetesObject[]) {
  return {
    owner: aStoredDeployment(),
    systemNamespace: 'rukpak-system',
    operation: 'install' as const,
    discovery: {
      invalidate: () => undefined,
      resourceFor: async () => resource,
      resourceForGroupKind: async () => resource,
      namespacedResources: async () => [resource],
    },
    objects,
    signal: new AbortController().signal,
  };
}

function aJob(from: string, hook?: string): KubernetesObject {
  const annotations = hook === undefined ? {} : { 'core.rukpak.io/hook': hook };
  const metadata = { name: 'migrate', namespace: 'n', annotations };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { from } };
}

test('of two objects with the same name the last counts', async () => {
  const { objects } = await desiredSet(aRequest(aJob('a'), aJob('b')));
  expect(objects.map(({ object }) => object['spec'])).toEqual([{ from: 'b' }]);
});

test('a left-out object without a namespace would be in the install namespace', async () => {
  const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'a', because: 'it is a sample' };
  const leftOut = [job, { ...job, namespace: 'n' }];
  const set = await desiredSet({ ...aRequest(), leftOut });
  expect(set.leftOut.map(({ namespace }) => namespace)).toEqual(['rukpak-system', 'n']);
});

test('hooks with the same name count each, with its own events', async () => {
  const hooks = [aJob('a', 'post-install'), aJob('b', 'post-upgrade')];
  const found = await desiredHooks({ ...aRequest(), hooks }, { ids: new Set() });
  expect(found.map(({ object }) => object['spec'])).toEqual([{ from: 'a' }, { from: 'b' }]);
});

test('hooks with the name of another object are refused, each name once', async () => {
  const request = aRequest(aJob('kept'));
  const hooks = [aJob('a', 'post-install'), aJob('b', 'post-upgrade')];
  await expect(desiredHooks({ ...request, hooks }, await desiredSet(request))).rejects.toThrow(
    /both as a hook and as an object to be kept: Job\/n\/migrate;/,
  );
});
