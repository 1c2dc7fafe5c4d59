import { beforeEach, expect, test } from 'vitest';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { HookWatch } from './hook-watch.ts';

let woken: string[];
let heard: string[];
let watch: HookWatch;

const running = anOwnedEntry('Job.batch', { name: 'migrate' });
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
  watch.waitFor('demo', running.id);
  watch.changed(running);
  expect(woken).toEqual([]);
  watch.changed(complete);
  expect(woken).toEqual(['demo']);
  watch.removed(complete);
  expect(woken).toEqual(['demo', 'demo']);
  expect(heard).toEqual(['migrate', 'migrate', '-migrate']);
});

test('an owner waits for one hook at a time, until it is forgotten', () => {
  watch.waitFor('demo', running.id);
  watch.waitFor('demo', 'another');
  watch.changed(complete);
  expect(woken).toEqual([]);
  watch.waitFor('demo', running.id);
  watch.forget('demo');
  watch.changed(complete);
  watch.removed(complete);
  expect(woken).toEqual([]);
});
