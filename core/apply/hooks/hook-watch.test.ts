import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { OwnerStates } from '../state/owner-state.ts';
import { awaitHook, HookWatch, noteHookEnd } from './hook-watch.ts';

let woken: string[];
let owners: OwnerStates;
let watch: HookWatch;

const annotations = { 'core.rukpak.io/hook-run': 'run' };
const running = anOwnedEntry('Job.batch', { name: 'migrate', metadata: { annotations } });
const object = {
  ...running.object,
  status: { conditions: [{ type: 'Complete', status: 'True' }] },
};
const complete = { ...running, object };

beforeEach(() => {
  woken = [];
  owners = new OwnerStates(new ManualClock());
  watch = new HookWatch(owners, (owner) => void woken.push(owner));
});

function waitFor(id: string, run: string) {
  return awaitHook(owners.of('demo'), id, run);
}

function changed(entry: InventoryEntry): void {
  watch.hear({ type: 'changed', entry, origin: 'watch' });
}

function removed(entry: InventoryEntry): void {
  watch.hear({ type: 'removed', entry, origin: 'watch' });
}

test('an owner is woken once its hook has ended, and when it is gone', () => {
  waitFor(running.id, 'run');
  changed(running);
  expect(woken).toEqual([]);
  changed(complete);
  expect(woken).toEqual(['demo']);
  removed(complete);
  expect(woken).toEqual(['demo', 'demo']);
});

test('how a hook has ended is known though it is gone, until something else is waited for', () => {
  expect(waitFor(running.id, 'run')).toBeUndefined();
  changed(complete);
  removed(complete);
  expect(waitFor(running.id, 'run')).toEqual({ state: 'succeeded' });
  expect(waitFor(running.id, 'another')).toBeUndefined();
  changed(complete);
  expect(waitFor(running.id, 'another')).toBeUndefined();
});

test('an owner that knows how its hook has ended is not woken again, and may ask again', () => {
  waitFor(running.id, 'run');
  noteHookEnd(owners.of('demo'), { state: 'succeeded' });
  changed(complete);
  removed(complete);
  expect(woken).toEqual([]);
  expect(waitFor(running.id, 'run')).toEqual({ state: 'succeeded' });
});

test('an owner waits for one hook at a time, until it is forgotten', () => {
  waitFor(running.id, 'run');
  waitFor('another', 'run');
  changed(complete);
  expect(woken).toEqual([]);
  waitFor(running.id, 'run');
  owners.forget('demo');
  changed(complete);
  removed(complete);
  expect(woken).toEqual([]);
});
