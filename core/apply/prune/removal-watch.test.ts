import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { awaitRemoval, RemovalWatch } from './removal-watch.ts';

const [a, b] = ['a', 'b'].map((name) => anOwnedEntry('ConfigMap', { name }));

let woken: string[];
let owners: OwnerStates;
let watch: RemovalWatch;

beforeEach(() => {
  woken = [];
  owners = new OwnerStates(new ManualClock());
  watch = new RemovalWatch(owners, (owner) => void woken.push(owner));
});

function waitFor(ids: readonly string[], shown: string, now = 1000): number {
  return awaitRemoval(owners.of('demo'), { ids, shown }, now);
}

function changed(entry: InventoryEntry): void {
  watch.hear({ type: 'changed', entry, origin: 'watch' });
}

function removed(entry: InventoryEntry): void {
  watch.hear({ type: 'removed', entry, origin: 'watch' });
}

test('an owner is woken when the last awaited object is gone', () => {
  if (a === undefined || b === undefined) throw new Error('no entries');
  waitFor([a.id, b.id], b.id);
  removed(a);
  expect(woken).toEqual([]);
  removed(b);
  expect(woken).toEqual(['demo']);
});

test('an owner is woken by news of the object that it tells of', () => {
  if (a === undefined || b === undefined) throw new Error('no entries');
  waitFor([a.id, b.id], a.id);
  changed(b);
  expect(woken).toEqual([]);
  changed(a);
  removed(a);
  expect(woken).toEqual(['demo', 'demo']);
});

test('the time that an owner waits runs from its first wait on, until it is forgotten', () => {
  expect(waitFor(['x'], 'x')).toBe(1000);
  expect(waitFor(['y'], 'y', 5000)).toBe(1000);
  owners.forget('demo');
  expect(waitFor(['y'], 'y', 7000)).toBe(7000);
});

test('an owner is woken when an object is gone that waited to be pruned', () => {
  if (a === undefined || b === undefined) throw new Error('no entries');
  owners.of('demo').waitingPrunes = new Set([a.id]);
  removed(b);
  changed(a);
  expect(woken).toEqual([]);
  removed(a);
  expect(woken).toEqual(['demo']);
});

test('owners that remove nothing are not woken', () => {
  if (a === undefined) throw new Error('no entries');
  changed(a);
  removed(a);
  expect(woken).toEqual([]);
});

test('an owner is woken once where one of its objects is annotated to be kept', () => {
  const annotations = { 'core.rukpak.io/keep': 'true' };
  const kept = anOwnedEntry('ConfigMap', { name: 'k', metadata: { annotations } });
  changed(kept);
  changed(kept);
  expect(woken).toEqual(['demo']);
  changed(anOwnedEntry('ConfigMap', { name: 'k' }));
  changed(kept);
  expect(woken).toEqual(['demo', 'demo']);
});

test('an owner does not wait for what another one has taken meanwhile', () => {
  if (a === undefined || b === undefined) throw new Error('no entries');
  waitFor([a.id, b.id], a.id);
  removed({ ...b, owner: 'other' });
  expect(woken).toEqual([]);
  changed({ ...a, owner: 'other' });
  expect(woken).toEqual(['demo']);
  removed({ ...a, owner: 'other' });
  expect(woken).toEqual(['demo']);
});
