import { expect, test } from 'vitest';
import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anOwnedEntry, aResource } from '../../../test/helpers/owned-entry.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError, type KubeClient, type Resource } from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { Inventory } from '../inventory/inventory.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import { trackingID } from '../objects/owner-marks.ts';
import { OutdatedOwnerError } from '../state/outdated-owner.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { Deletions } from '../write/deletions.ts';
import { Orphaner } from './orphan.ts';
import { Pruner } from './pruner.ts';
import { Remover } from './remover.ts';

/** The object as deployment `other` has it. */
function takenBy({ resource, key, object }: InventoryEntry): KubernetesObject {
  const { labels, annotations, ...metadata } = object.metadata;
  const mark = { 'core.rukpak.io/tracking-id': trackingID('uid-of-other', resource, key) };
  return {
    ...object,
    metadata: {
      ...metadata,
      resourceVersion: '2',
      labels: { ...labels, 'core.rukpak.io/owner-name': 'other' },
      annotations: { ...annotations, ...mark },
    },
  };
}

interface Meanwhile {
  /** Another deployment takes the object right before core deletes it. */
  readonly isTaken?: boolean;
  /** Somebody changes the spec of the deployment before the first deletion, or right after it. */
  readonly changed?: 'before' | 'amid';
  /** What changes of it (default: its generation). */
  readonly change?: ObjectMeta;
  /** What another deployment that may adopt the objects lets them wait for. */
  readonly awaited?: string;
}

let asked: string[];

const finalizers = ['example.com/audit', 'core.rukpak.io/delete-objects'];

/** What a deletion does with a Namespace and an object in it. */
async function removed({
  isTaken = false,
  changed,
  change = { generation: 2 },
  awaited,
}: Meanwhile): Promise<readonly string[]> {
  const inventory = new Inventory();
  const goes = anOwnedEntry('ConfigMap', { name: 'goes' }, inventory);
  const space = anOwnedEntry('Namespace', { name: 'n' }, inventory);
  let live: KubernetesObject | undefined = goes.object;
  const { metadata, ...deployment } = aStoredDeployment();
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const owner = { ...deployment, metadata: { ...metadata, deletionTimestamp, finalizers } };
  asked = [];
  const client = {
    get: async ({ kind }: Resource) => {
      if (kind === owner.kind) {
        const isChanged = changed === 'before' || (changed === 'amid' && asked.length > 0);
        return isChanged ? { ...owner, metadata: { ...owner.metadata, ...change } } : owner;
      }
      const found = kind === 'Namespace' ? space.object : live;
      if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
      return found;
    },
    delete: async ({ kind }: Resource, { name }: { readonly name: string }) => {
      asked.push(`delete ${kind}/${name}`);
      if (kind !== 'ConfigMap') return;
      live = isTaken ? takenBy(goes) : undefined;
      if (live === undefined) inventory.forget(goes);
      else inventory.put(goes.resource, live);
      if (isTaken) throw new ApiError(409, { reason: 'Conflict' });
    },
    patch: async ({ resource, key }: InventoryEntry) => {
      asked.push(`orphan ${resource.kind}/${key.name}`);
      return space.object;
    },
    list: async () => ({
      metadata: { resourceVersion: '1' },
      items: live === undefined ? [] : [live],
    }),
    ofCreator: () => client,
  } as unknown as KubeClient;
  const events = new EventList();
  const owners = new OwnerStates(new ManualClock());
  const notify = () => undefined;
  const known = { client, inventory, owners, events, notify, systemNamespace: 'rukpak-system' };
  const orphaner = new Orphaner({ ...known, onLost: notify });
  const deletions = new Deletions({ events, logger: silentLogger });
  const earlierKinds = {
    areLost: () => false,
    of: async () => [],
    find: async () => ({ resources: [], unserved: [] }),
    lost: async (_: string, failures: readonly ApplyFailure[]) => ({ failures, unserved: [] }),
  } as never;
  const discovery = {
    namespacedResources: async () => [aResource('ConfigMap')],
    resourceFor: async () => undefined,
    resourceForGroupKind: async () => undefined,
    invalidate: () => undefined,
  };
  const parts = { ...known, discovery, deletions, orphaner, earlierKinds };
  const pruner = new Pruner({ ...parts, drift: {} as never, transfers: {} as never });
  const watches = { ensure: async () => undefined } as never;
  const transfers = { pendingDeletion: async () => awaited };
  const remover = new Remover({ ...parts, pruner, watches, transfers, clock: new ManualClock() });
  const request = { owner, policy: 'Delete', signal: AbortSignal.timeout(120_000) } as const;
  const { waitsFor } = await remover.remove(request);
  expect(waitsFor?.message ?? '').toContain(awaited ?? '');
  return asked;
}

test('a Namespace goes after the object in it', async () => {
  expect(await removed({})).toEqual(['delete ConfigMap/goes', 'delete Namespace/n']);
});

test('a Namespace stays with an object in it that another deployment has just taken', async () => {
  expect(await removed({ isTaken: true })).toEqual(['delete ConfigMap/goes', 'orphan Namespace/n']);
});

test('nothing more is deleted by a policy that somebody has changed since', async () => {
  await expect(removed({ changed: 'amid' })).rejects.toThrow(OutdatedOwnerError);
  expect(asked).toEqual(['delete ConfigMap/goes']);
});

test.each([
  ['deletes the deployment again with --cascade=orphan', [...finalizers, 'orphan']],
  ["takes core's finalizer off beside another one", ['example.com/audit']],
])('nothing more is deleted when somebody %s', async (_, left) => {
  const change = { finalizers: left };
  await expect(removed({ changed: 'amid', change })).rejects.toThrow(OutdatedOwnerError);
  expect(asked).toEqual(['delete ConfigMap/goes']);
});

test('a finalizer of others may come and go amid a deletion', async () => {
  const change = { finalizers: ['core.rukpak.io/delete-objects'] };
  expect(await removed({ changed: 'amid', change })).toEqual([
    'delete ConfigMap/goes',
    'delete Namespace/n',
  ]);
});

test('nothing is deleted by a policy that somebody has changed since core read it', async () => {
  await expect(removed({ changed: 'before' })).rejects.toThrow(OutdatedOwnerError);
  expect(asked).toEqual([]);
});

test('nothing is deleted while another deployment may adopt it', async () => {
  expect(await removed({ awaited: 'taker may adopt them' })).toEqual([]);
});
