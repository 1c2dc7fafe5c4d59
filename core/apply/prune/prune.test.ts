import { describe, expect, test } from 'vitest';
import { ApiError } from '../../kube/api-error.ts';
import type { DeleteOptions } from '../../kube/kube-client.ts';
import type { Resource } from '../../kube/resource.ts';
import { Inventory, type InventoryEntry } from '../inventory/inventory.ts';
import {
  inhabitedNamespaces,
  keptByAnnotation,
  prune,
  superfluous,
  unreferenced,
  type Wanted,
} from './prune.ts';

const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

interface Place {
  readonly inventory: Inventory;
  readonly resource?: Resource;
}

function put({ inventory, resource = configMaps }: Place, name: string, metadata: object = {}) {
  const reference = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    name: 'demo',
    uid: 'u',
    controller: true,
  };
  const labels = {
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'demo',
  };
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'n',
      resourceVersion: '1',
      labels,
      ownerReferences: [reference],
      ...metadata,
    },
  };
  return inventory.put(resource, object);
}

function wants(...entries: readonly InventoryEntry[]): Wanted {
  return { ids: new Set(entries.map(({ id }) => id)), objects: entries };
}

test('only controlled objects that are no longer wanted go', () => {
  const inventory = new Inventory();
  const wanted = put({ inventory }, 'wanted');
  put({ inventory }, 'goes');
  put({ inventory }, 'kept', { annotations: { 'helm.sh/resource-policy': 'keep' } });
  put({ inventory }, 'going', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  put({ inventory }, 'copied-labels', { ownerReferences: [] });
  const other = { apiVersion: 'v1', kind: 'Service', name: 'demo', uid: 'x', controller: true };
  put({ inventory }, 'of-a-service', { ownerReferences: [other] });
  put({ inventory }, 'deleted').deleted = true;
  const names = superfluous(inventory, 'demo', wants(wanted)).map(({ key }) => key.name);
  expect(names).toEqual(['goes']);
});

test('a namespace does not go while something that is wanted is in it', () => {
  const inventory = new Inventory();
  const resource = { ...configMaps, kind: 'Namespace', plural: 'namespaces', namespaced: false };
  const wanted = put({ inventory }, 'wanted');
  const inhabited = put({ inventory, resource }, 'n', { namespace: undefined });
  put({ inventory, resource }, 'empty', { namespace: undefined });
  const names = superfluous(inventory, 'demo', wants(wanted)).map(({ key }) => key.name);
  expect(names).toEqual(['empty']);
  expect(inhabitedNamespaces(inventory, 'demo', wants(wanted))).toEqual([inhabited]);
  expect(inhabitedNamespaces(inventory, 'demo', wants(wanted, inhabited))).toEqual([]);
});

test('an object that is watched in two versions is wanted, or goes, once', () => {
  const inventory = new Inventory();
  const wanted = put({ inventory }, 'wanted');
  put({ inventory, resource: { ...configMaps, version: 'v2' } }, 'wanted');
  put({ inventory }, 'goes');
  put({ inventory, resource: { ...configMaps, version: 'v2' } }, 'goes');
  const names = superfluous(inventory, 'demo', wants(wanted)).map(({ key }) => key.name);
  expect(names).toEqual(['goes']);
});

test('what is annotated to be kept stays, and is found while the garbage collector would take it', () => {
  const inventory = new Inventory();
  const keep = { annotations: { 'core.rukpak.io/keep': 'true' } };
  put({ inventory }, 'annotated', keep);
  put({ inventory }, 'of-the-bundle', { ...keep, ownerReferences: [] });
  put({ inventory }, 'not-so', { annotations: { 'core.rukpak.io/keep': 'no' } });
  const names = superfluous(inventory, 'demo', wants()).map(({ key }) => key.name);
  expect(names).toEqual(['not-so']);
  expect(keptByAnnotation(inventory, 'demo').map(({ key }) => key.name)).toEqual(['annotated']);
});

test('what goes in order is what only its annotation binds to the deployment', () => {
  const inventory = new Inventory();
  const annotations = { 'core.rukpak.io/owner-uid': 'u' };
  put({ inventory }, 'referenced', { annotations });
  put({ inventory }, 'of-others', { ownerReferences: [] });
  const going = { annotations, deletionTimestamp: '2026-01-01T00:00:00Z' };
  put({ inventory }, 'going', { ...going, ownerReferences: [] });
  expect(unreferenced(inventory, 'demo')).toEqual([]);
  const entry = put({ inventory }, 'in-order', { annotations, ownerReferences: [] });
  expect(unreferenced(inventory, 'demo')).toEqual([entry]);
});

describe('a deletion', () => {
  const conflict = new ApiError(409, { reason: 'Conflict' });

  /** Deletes the object while the API server has this; what was asked of it. */
  async function deleted(live: InventoryEntry['object'] | undefined, refusals = 1) {
    const entry = put({ inventory: new Inventory() }, 'goes', { uid: 'u1' });
    const asked: (string | undefined)[] = [];
    const failures = await prune(
      [entry],
      {
        delete: async (_resource: unknown, _key: unknown, options: DeleteOptions = {}) => {
          asked.push(`${options.uid} ${options.resourceVersion}`);
          if (asked.length <= refusals) throw conflict;
        },
        get: async () => {
          if (live === undefined) throw new ApiError(404, { reason: 'NotFound' });
          return live;
        },
      },
      AbortSignal.timeout(120_000),
    );
    return { asked, failures };
  }

  function anObject(metadata: object): InventoryEntry['object'] {
    return put({ inventory: new Inventory() }, 'goes', { uid: 'u1', ...metadata }).object;
  }

  test('is of exactly what is known', async () => {
    expect(await deleted(undefined, 0)).toEqual({ asked: ['u1 1'], failures: [] });
  });

  test('follows an object that was only changed', async () => {
    const { asked, failures } = await deleted(anObject({ resourceVersion: '7' }));
    expect(asked).toEqual(['u1 1', 'u1 7']);
    expect(failures).toEqual([]);
  });

  const taken = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    name: 'other',
    uid: 'x',
    controller: true,
  };

  test.each([
    ['another deployment has taken', anObject({ ownerReferences: [taken] })],
    ['is a namesake by now', anObject({ uid: 'u2' })],
    ['is gone', undefined],
    ['is to be kept by now', anObject({ annotations: { 'core.rukpak.io/keep': 'true' } })],
  ])('spares what %s', async (_, live) => {
    expect(await deleted(live)).toEqual({ asked: ['u1 1'], failures: [] });
  });

  test('is told to have failed where the object never rests', async () => {
    const { failures } = await deleted(anObject({ resourceVersion: '7' }), 99);
    expect(failures).toMatchObject([{ action: 'delete', error: conflict }]);
  });
});
