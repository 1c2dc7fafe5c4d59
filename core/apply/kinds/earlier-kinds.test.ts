import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError, type KubeClient, type Resource } from '../../platform/kube/index.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { EarlierKinds, notServed } from './earlier-kinds.ts';

const gizmo = { group: 'x.example.com', kind: 'Gizmo' };
const gizmos: Resource = { ...gizmo, version: 'v1', plural: 'gizmos', namespaced: true };
const signal = new AbortController().signal;

let marked: boolean;
let served: readonly Resource[] | Error;
let installed: readonly KubernetesObject[];
/** Whether the API server has APIServices. */
let aggregates: boolean;
let clock: ManualClock;
let woken: string[];
let stopped: string[];
let invalidated: number;
let kinds: EarlierKinds;

beforeEach(() => {
  marked = true;
  served = [];
  installed = [];
  aggregates = true;
  clock = new ManualClock();
  woken = [];
  stopped = [];
  invalidated = 0;
  const client: Pick<KubeClient, 'list' | 'get'> = {
    list: async ({ kind }) => {
      if (kind === 'APIService' && !aggregates) throw new ApiError(404, { reason: 'NotFound' });
      return {
        metadata: { resourceVersion: '1' },
        items: installed.filter((object) => object.kind === kind),
      };
    },
    get: async (_, { name }) => {
      const found = installed.find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
      return found;
    },
  };
  kinds = new EarlierKinds({
    client,
    discovery: {
      resourceFor: async () => undefined,
      resourceForGroupKind: async (group, kind) => {
        if (served instanceof Error) throw served;
        return served.find((found) => found.group === group && found.kind === kind);
      },
      invalidate: () => void (invalidated += 1),
    },
    watches: { watched: () => undefined, stop: ({ kind }) => void stopped.push(kind) },
    parents: { isParent: () => marked, kinds: () => [gizmo] },
    releases: { kinds: async () => [] },
    owners: new OwnerStates(clock),
    clock,
    signal,
    notify: (owner) => void woken.push(owner),
  });
});

test('the status has the kinds too, for when the marks of a deployment are lost', async () => {
  const owner = (...groupKinds: string[]) => aStoredDeployment({ status: { groupKinds } });
  const widget = { group: 'x.example.com', kind: 'Widget' };
  const both = owner('Gizmo.x.example.com', 'Widget.x.example.com');
  expect(await kinds.of(both, signal)).toEqual([gizmo, widget]);
  expect(await kinds.of(aStoredDeployment(), signal)).toEqual([gizmo]);
  expect(kinds.areLost(aStoredDeployment())).toBe(false);
  marked = false;
  expect(await kinds.of(both, signal)).toEqual([gizmo, widget]);
  expect(kinds.areLost(both)).toBe(false);
  expect(kinds.areLost(aStoredDeployment())).toBe(true);
});

function aDefinition(kind: string, group = gizmo.group): KubernetesObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.toLowerCase()}s.${group}` },
    spec: { group, names: { kind } },
  };
}

function anAPIService(spec: object): KubernetesObject {
  const metadata = { name: `v1.${gizmo.group}` };
  const apiVersion = 'apiregistration.k8s.io/v1';
  return { apiVersion, kind: 'APIService', metadata, spec: { group: gizmo.group, ...spec } };
}

describe('a kind that the API server does not serve', () => {
  test.each([
    ['has no CRD and no APIService', [], []],
    ['has a CRD', [aDefinition('Gizmo')], [gizmo]],
    ['shares its group with another CRD', [aDefinition('Gadget')], []],
    ['has a namesake in a longer group', [aDefinition('Gizmo', `y.${gizmo.group}`)], []],
    ['has another server', [anAPIService({ service: { name: 'api' } })], [gizmo]],
    ['has an APIService of the API server itself', [anAPIService({})], []],
  ])('is waited for only where it is installed: it %s', async (_, objects, unserved) => {
    installed = objects;
    expect(await kinds.find('demo', [gizmo], signal)).toEqual({ resources: [], unserved });
    expect(invalidated).toBe(unserved.length);
  });

  test('is gone where the API server has no APIServices that could tell of it', async () => {
    aggregates = false;
    expect(await kinds.find('demo', [gizmo], signal)).toEqual({ resources: [], unserved: [] });
  });

  test('is waited for where discovery cannot tell', async () => {
    served = new Error('its aggregated API server does not answer');
    installed = [anAPIService({ service: { name: 'api' } })];
    expect(await kinds.find('demo', [gizmo], signal)).toMatchObject({ unserved: [gizmo] });
  });

  test('is not taken for gone where discovery fails and nothing else tells of it', async () => {
    const builtIn = { group: 'apps', kind: 'Deployment' };
    for (const kind of [builtIn, { group: '', kind: 'ConfigMap' }, gizmo]) {
      served = new ApiError(503, { message: 'etcd does not answer' });
      invalidated = 0;
      const found = kinds.find('demo', [kind], signal);
      const { message } = await found.then(
        () => new Error('found nothing'),
        (error: Error) => error,
      );
      const name = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`;
      expect(message).toBe(`cannot look for objects of kind ${name}: etcd does not answer`);
      // A retry asks anew.
      expect(invalidated).toBe(1);
    }
  });

  test('wakes the owner once, however often core looks meanwhile', async () => {
    installed = [aDefinition('Gizmo')];
    for (const _ of [1, 2, 3]) await kinds.find('demo', [gizmo], signal);
    await after(1_000);
    expect(woken).toEqual(['demo']);
  });

  test('wakes the owner soon, then ever less, and no longer once it is served', async () => {
    installed = [aDefinition('Gizmo')];
    await kinds.find('demo', [gizmo], signal);
    await after(1_000);
    expect(woken).toEqual(['demo']);
    clock.advance(599_000);
    await kinds.find('demo', [gizmo], signal);
    await after(59_999);
    expect(woken).toHaveLength(1);
    await after(1);
    expect(woken).toHaveLength(2);
    await kinds.find('demo', [gizmo], signal);
    served = [gizmos];
    expect(await kinds.find('demo', [gizmo], signal)).toEqual({
      resources: [gizmos],
      unserved: [],
    });
    await after(60_000);
    expect(woken).toHaveLength(2);
  });
});

test('a refused deletion that names no object tells that its kind is not served', async () => {
  installed = [aDefinition('Gizmo')];
  const object = { resource: gizmos, key: { namespace: 'n', name: 'g' } };
  const missing = new ApiError(404, { message: '404 page not found' });
  const failures = [missing, new ApiError(403, { message: 'no' })].map((error) => ({
    object,
    action: 'delete' as const,
    error,
  }));
  expect(await kinds.lost('demo', failures, signal)).toMatchObject({
    failures: [failures[1]],
    unserved: [gizmo],
  });
  expect(stopped).toEqual(['Gizmo']);
  await after(1_000);
  expect(woken).toEqual(['demo']);
});

test('a refused deletion ends no kind where discovery fails', async () => {
  served = new Error('etcd does not answer');
  const object = { resource: gizmos, key: { namespace: 'n', name: 'g' } };
  const error = new ApiError(404, { message: '404 page not found' });
  const failures = [{ object, action: 'delete', error }] as const;
  await expect(kinds.lost('demo', failures, signal)).rejects.toThrow('etcd does not answer');
});

test('objects of a version that is no longer served are looked for in another one', async () => {
  served = [{ ...gizmos, version: 'v2' }];
  const object = { resource: gizmos, key: { namespace: 'n', name: 'g' } };
  const error = new ApiError(404, { message: '404 page not found' });
  const failures = [{ object, action: 'delete', error }] as const;
  expect(await kinds.lost('demo', failures, signal)).toEqual({ failures: [], unserved: [gizmo] });
  await after(1_000);
  expect(woken).toEqual(['demo']);
});

async function after(ms: number): Promise<void> {
  clock.advance(ms);
  await turn();
}

test('the condition names the first of them, and what to do', () => {
  expect(notServed([])).toBeUndefined();
  const many = Array.from({ length: 7 }, (_, index) => ({ group: 'x', kind: `K${index}` }));
  expect(notServed([gizmo, ...many])).toEqual({
    reason: 'KindNotServed',
    message:
      'Not served: Gizmo.x.example.com, K0.x, K1.x, K2.x, K3.x and 3 more. Objects of earlier versions may still exist. ' +
      'Core prunes them when the API server serves the kind again: repair its CustomResourceDefinition or APIService, or delete it',
  });
});
