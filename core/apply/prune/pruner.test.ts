import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { BundleDeploymentSpec } from '../../../api/v1alpha1/bundle-deployment.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anOwnedCRD, anOwnedEntry, aResource } from '../../../test/helpers/owned-entry.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError, type KubeClient, type Resource } from '../../platform/kube/index.ts';
import { type InventoryEntry } from '../inventory/entry.ts';
import { Inventory } from '../inventory/inventory.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import { recordWithout } from '../state/applied-record.ts';
import { OutdatedOwnerError } from '../state/outdated-owner.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { Deletions } from '../write/deletions.ts';
import { Orphaner } from './orphan.ts';
import { Pruner } from './pruner.ts';

const forbidden = new ApiError(403, { reason: 'Forbidden', message: 'a policy says no' });
const conflict = new ApiError(409, { reason: 'Conflict' });
const keep = { 'core.rukpak.io/keep': 'true' };
const leftByDemo = { 'core.rukpak.io/left-by': 'demo' };

let inventory: Inventory;
let goes: InventoryEntry;
let space: InventoryEntry;
/** What Namespace `n` holds beside `goes`. */
let besides: ObjectMeta[];
/** `goes` as the API server has it; undefined when it is gone. */
let live: KubernetesObject | undefined;
/** The deployment as the API server has it. */
let stored: KubernetesObject;
/** The CRD of Gizmos as the API server has it. */
let definition: KubernetesObject | undefined;
/** What the deletion of `goes` does. */
let deletion: () => void;
let asked: string[];
let events: EventList;

beforeEach(() => {
  inventory = new Inventory();
  goes = anOwnedEntry('ConfigMap', { name: 'goes' }, inventory);
  space = anOwnedEntry('Namespace', { name: 'n' }, inventory);
  besides = [];
  live = goes.object;
  stored = aStoredDeployment();
  definition = undefined;
  deletion = () => void (live = undefined);
  asked = [];
  events = new EventList();
});

function isOf(entry: InventoryEntry, resource: Resource, name: string): boolean {
  return entry.resource.kind === resource.kind && entry.key.name === name;
}

const client = {
  get: async (resource: Resource, { name }: { readonly name: string }) => {
    if (resource.kind === 'BundleDeployment') return stored;
    const others = resource.kind === 'CustomResourceDefinition' ? definition : live;
    const found = isOf(space, resource, name) ? space.object : others;
    if (found === undefined) throw new ApiError(404, { reason: 'NotFound', details: { name } });
    return found;
  },
  delete: async (resource: Resource, { name }: { readonly name: string }) => {
    asked.push(`delete ${resource.kind}/${name}`);
    if (isOf(goes, resource, name)) deletion();
  },
  patch: async ({ resource, key }: Pick<InventoryEntry, 'resource' | 'key'>) => {
    asked.push(`orphan ${resource.kind}/${key.name}`);
    return space.object;
  },
  list: async () => ({
    metadata: { resourceVersion: '1' },
    items: [live, ...besides.map((metadata) => ({ metadata }))].filter((each) => each),
  }),
} as unknown as KubeClient;

/** Deployment `web` of the bundle, which is not healthy. */
const web = aDesiredObject({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'other', name: 'web' },
});

interface PruneOptions {
  readonly spec?: Partial<BundleDeploymentSpec>;
  /** The deployment that has `web`. */
  readonly holder?: string;
}

/** Prunes both objects; returns what the API server was asked for. */
async function prune({ spec = {}, holder }: PruneOptions = {}) {
  const owners = new OwnerStates(new ManualClock());
  if (holder !== undefined) owners.of(holder).setRecord(recordWithout(web, holder));
  const signal = AbortSignal.timeout(120_000);
  const pruner = new Pruner({
    client,
    discovery: {
      namespacedResources: async () => [aResource('ConfigMap')],
      resourceFor: async () => undefined,
      resourceForGroupKind: async () => undefined,
      invalidate: () => undefined,
    },
    events,
    owners,
    inventory,
    drift: { health: () => 'web is not ready' } as never,
    earlierKinds: {
      lost: async (_: string, failures: readonly ApplyFailure[]) => ({ failures, unserved: [] }),
    } as never,
    transfers: { pending: async () => undefined } as never,
    deletions: new Deletions({ events, logger: silentLogger }),
    orphaner: new Orphaner({
      client,
      events,
      owners,
      inventory,
      onLost: () => undefined,
      notify: () => undefined,
    }),
  });
  const deployment = aStoredDeployment();
  const owner = { ...deployment, spec: { ...deployment.spec, ...spec } };
  const state = owners.of('demo');
  const set = { ids: new Set([web.id]), objects: [web], omitted: [] };
  return await pruner.prune({ owner, name: 'demo', state, client, set, signal });
}

test.each([
  ['waits for the health of an object of the bundle', 'demo', 'PruneHeld'],
  ['waits for none that another deployment has, whose health wakes that one', 'other', undefined],
])('with spec.prune.when Healthy a deletion %s', async (_, holder, reason) => {
  const { blocked } = await prune({ spec: { prune: { when: 'Healthy' } }, holder });
  expect(blocked?.reason).toBe(reason);
  expect(asked).toEqual(
    reason === undefined ? ['delete ConfigMap/goes', 'delete Namespace/n'] : [],
  );
});

describe('a Namespace that the bundle no longer has', () => {
  test('goes after the objects in it', async () => {
    expect(await prune()).toMatchObject({ changes: 2, held: [] });
    expect(asked).toEqual(['delete ConfigMap/goes', 'delete Namespace/n']);
  });

  test('goes while finalizers of others still hold an object that core has deleted', async () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    deletion = () => {
      live = { ...goes.object, metadata: { ...goes.object.metadata, deletionTimestamp } };
    };
    await prune();
    expect(asked).toEqual(['delete ConfigMap/goes', 'delete Namespace/n']);
  });

  test('is not asked for where the API server refuses to delete an object in it', async () => {
    deletion = () => {
      throw forbidden;
    };
    await expect(prune()).rejects.toThrow('a policy says no');
    expect(asked).toEqual(['delete ConfigMap/goes']);
  });

  test.each<[string, ObjectMeta, held: string[]]>([
    // It is the deployment's until the next look, which orphans it.
    ['somebody annotates to be kept', { annotations: keep }, ['goes']],
    ['somebody replaces', { uid: 'another' }, []],
  ])('stays without an owner where an object in it, just before, %s', async (_, changed, left) => {
    deletion = () => {
      const { metadata } = goes.object;
      const annotations = { ...metadata.annotations, ...changed.annotations };
      live = { ...goes.object, metadata: { ...metadata, ...changed, annotations } };
      throw conflict;
    };
    const { held, changes } = await prune();
    expect(held.map(({ key }) => key.name)).toEqual(left);
    expect(changes).toBe(2 - left.length);
    expect(asked).toEqual(['delete ConfigMap/goes', 'orphan Namespace/n']);
    expect(events.taken()).toEqual([
      'Normal ObjectKept: Core orphaned Namespace/n: it holds ConfigMap/n/goes, which core does not delete',
    ]);
  });

  test('stays with a dependent of the deployment, which outlives the prune', async () => {
    const owner = { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'BundleDeployment', name: 'demo' };
    besides = [{ name: 'made-by-a-hook', ownerReferences: [{ ...owner, uid: 'uid-of-demo' }] }];
    await prune();
    expect(asked).not.toContain('delete Namespace/n');
  });
});

test.each<[string, ObjectMeta]>([
  ['has another spec, which may have the objects again', { generation: 2 }],
  ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['is another one', { uid: 'another' }],
])('nothing is deleted for a deployment that by now %s', async (_, changed) => {
  stored = { ...stored, metadata: { ...stored.metadata, ...changed } };
  await expect(prune()).rejects.toThrow(OutdatedOwnerError);
  expect(asked).toEqual([]);
});

describe('with KeepCRDs', () => {
  const spec = { deletionPolicy: 'KeepCRDs' } as const;

  beforeEach(() => {
    anOwnedEntry('Gizmo.example.com', { name: 'one' }, inventory);
    const { metadata, ...crd } = anOwnedCRD('Gizmo').object;
    definition = { ...crd, metadata: { ...metadata, annotations: leftByDemo } };
  });

  test('a custom resource stays whose CRD core orphaned before something failed', async () => {
    await prune({ spec });
    expect(asked.filter((each) => each.endsWith('Gizmo/one'))).toEqual(['orphan Gizmo/one']);
  });

  test('a custom resource goes whose CRD stays in the bundle', async () => {
    definition = anOwnedCRD('Gizmo').object;
    await prune({ spec });
    expect(asked.filter((each) => each.endsWith('Gizmo/one'))).toEqual(['delete Gizmo/one']);
  });
});
