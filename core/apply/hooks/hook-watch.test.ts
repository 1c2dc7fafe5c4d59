import { beforeEach, expect, test } from 'vitest';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { HookWatch } from './hook-watch.ts';

let woken: string[];
let heard: string[];
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
  heard = [];
  watch = new HookWatch({
    notify: (owner) => void woken.push(owner),
    next: {
      changed: ({ key }) => void heard.push(key.name),
      removed: ({ key }) => void heard.push(`-${key.name}`),
    },
  });
});

test('an owner is woken once its hook has ended, and when it is gone', () => {
  watch.waitFor('demo', running.id, 'run');
  watch.changed(running);
  expect(woken).toEqual([]);
  watch.changed(complete);
  expect(woken).toEqual(['demo']);
  watch.removed(complete);
  expect(woken).toEqual(['demo', 'demo']);
  expect(heard).toEqual(['migrate', 'migrate', '-migrate']);
});

test('how a hook has ended is known though it is gone, until something else is waited for', () => {
  expect(watch.waitFor('demo', running.id, 'run')).toBeUndefined();
  watch.changed(complete);
  watch.removed(complete);
  expect(watch.waitFor('demo', running.id, 'run')).toEqual({ state: 'succeeded' });
  expect(watch.waitFor('demo', running.id, 'another')).toBeUndefined();
  watch.changed(complete);
  expect(watch.waitFor('demo', running.id, 'another')).toBeUndefined();
});

test('an owner that knows how its hook has ended is not woken again, and may ask again', () => {
  watch.waitFor('demo', running.id, 'run');
  watch.end('demo', { state: 'succeeded' });
  watch.changed(complete);
  watch.removed(complete);
  expect(woken).toEqual([]);
  expect(watch.waitFor('demo', running.id, 'run')).toEqual({ state: 'succeeded' });
});

test('an owner waits for one hook at a time, until it is forgotten', () => {
  watch.waitFor('demo', running.id, 'run');
  watch.waitFor('demo', 'another', 'run');
  watch.changed(complete);
  expect(woken).toEqual([]);
  watch.waitFor('demo', running.id, 'run');
  watch.forget('demo');
  watch.changed(complete);
  watch.removed(complete);
  expect(woken).toEqual([]);
});
