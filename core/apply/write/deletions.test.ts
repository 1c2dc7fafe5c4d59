import { describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../../../api/meta.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import type { DeleteOptions } from '../../platform/kube/kube-client.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { Deletions } from './deletions.ts';

const conflict = new ApiError(409, { reason: 'Conflict' });
const missing = new ApiError(404, { reason: 'NotFound', details: { name: 'goes' } });

function anEntry(metadata: ObjectMeta = {}, name = 'goes'): InventoryEntry {
  return anOwnedEntry('ConfigMap', { name, metadata: { uid: 'u1', ...metadata } });
}

interface Cluster {
  /** The live object, or why it cannot be read (default: there is none). */
  readonly live?: InventoryEntry | ApiError | undefined;
  /** Number of deletions that the API server refuses. */
  readonly refusals?: number;
}

/** Deletes objects; returns the requests to the API server and the Events. */
async function deleted(entries: readonly InventoryEntry[], { live, refusals = 1 }: Cluster = {}) {
  const asked: string[] = [];
  const events = new EventList();
  const deletions = new Deletions({ events, logger: silentLogger });
  const failures = await deletions.delete(entries, {
    owner: aStoredDeployment(),
    because: 'nobody needs it',
    client: {
      delete: async (_resource: unknown, _key: unknown, options: DeleteOptions = {}) => {
        asked.push(`${options.uid} ${options.resourceVersion}`);
        if (asked.length <= refusals) throw conflict;
      },
      get: async () => {
        if (live instanceof ApiError) throw live;
        if (live === undefined) throw missing;
        return live.object;
      },
    },
    signal: AbortSignal.timeout(120_000),
  });
  return { asked, failures, told: events.taken() };
}

test('a deletion is of exactly what is known, and is told', async () => {
  expect(await deleted([anEntry()], { refusals: 0 })).toEqual({
    asked: ['u1 1'],
    failures: [],
    told: ['Normal ObjectsDeleted: Deleted ConfigMap/n/goes: nobody needs it'],
  });
});

test('a deletion follows an object that was only changed', async () => {
  const { asked, failures } = await deleted([anEntry()], {
    live: anEntry({ resourceVersion: '7' }),
  });
  expect(asked).toEqual(['u1 1', 'u1 7']);
  expect(failures).toEqual([]);
});

const other = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  name: 'other',
  uid: 'x',
  controller: true,
};

test.each<[string, InventoryEntry | undefined]>([
  ['another deployment has taken', anEntry({ ownerReferences: [other] })],
  ['is a namesake by now', anEntry({ uid: 'u2' })],
  ['is gone', undefined],
  ['is to be kept by now', anEntry({ annotations: { 'core.rukpak.io/keep': 'true' } })],
])('a deletion spares what %s', async (_, live) => {
  expect(await deleted([anEntry()], { live })).toEqual({ asked: ['u1 1'], failures: [], told: [] });
});

test.each<[string, boolean, InventoryEntry | undefined]>([
  ['to be kept', false, anEntry({ annotations: { 'core.rukpak.io/keep': 'true' } })],
  ['a namesake', true, anEntry({ uid: 'u2' })],
  ['gone', true, undefined],
])('what becomes of an object is decided anew only if it is %s by now', async (_, isGone, live) => {
  const entry = anEntry();
  await deleted([entry], { live });
  expect(entry.deleted).toBe(isGone);
});

test('an object whose version the server no longer serves is not gone', async () => {
  const live = new ApiError(404, { message: '404 page not found' });
  const entry = anEntry();
  expect((await deleted([entry], { live })).failures).toMatchObject([{ error: live }]);
  expect(entry.deleted).toBe(false);
});

test('an object that never rests is told to have failed', async () => {
  const live = anEntry({ resourceVersion: '7' });
  const { failures, told } = await deleted([anEntry()], { live, refusals: 99 });
  expect(failures).toMatchObject([{ action: 'delete', error: conflict }]);
  expect(told).toEqual([]);
});

describe('what core did not make for this very deployment', () => {
  const mark = (text: string) => ({ annotations: { 'core.rukpak.io/tracking-id': text } });

  test.each<[string, ObjectMeta]>([
    ['of an earlier deployment', mark('earlier:/ConfigMap:n/goes')],
    ['copied from another object', mark('uid-of-demo:/ConfigMap:n/original')],
    ['without a mark', mark('')],
    ['of another deployment', { labels: {} }],
  ])('stays, whoever asks: %s', async (_, metadata) => {
    expect(await deleted([anEntry(metadata)], { refusals: 0 })).toEqual({
      asked: [],
      failures: [],
      told: [],
    });
  });
});

test('every deleted object is named by an Event that the API server takes', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `${'x'.repeat(200)}-${index}`);
  const entries = names.map((name) => anEntry({}, name));
  const { told } = await deleted(entries, { refusals: 0 });
  for (const name of names) expect(told.join('\n')).toContain(`ConfigMap/n/${name}`);
  for (const message of told) expect(message.length).toBeLessThan(1024);
});
