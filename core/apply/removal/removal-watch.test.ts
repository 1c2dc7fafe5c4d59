import { beforeEach, expect, test } from 'vitest';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { RemovalWatch } from './removal-watch.ts';

const [a, b] = ['a', 'b'].map((name) => anOwnedEntry('ConfigMap', { name }));

let woken: string[];
let heard: string[];
let watch: RemovalWatch;

beforeEach(() => {
  woken = [];
  heard = [];
  watch = new RemovalWatch({
    notify: (owner) => void woken.push(owner),
    next: {
      changed: ({ key }) => void heard.push(key.name),
      removed: ({ key }) => void heard.push(`-${key.name}`),
    },
  });
});

test('an owner is woken when the last awaited object is gone', () => {
  if (a === undefined || b === undefined) throw new Error('no entries');
  watch.waitFor('demo', { ids: [a.id, b.id], shown: b.id }, 1000);
  watch.removed(a);
  expect(woken).toEqual([]);
  watch.removed(b);
  expect(woken).toEqual(['demo']);
  expect(heard).toEqual(['-a', '-b']);
});

test('an owner is woken by news of the object that it tells of', () => {
  if (a === undefined || b === undefined) throw new Error('no entries');
  watch.waitFor('demo', { ids: [a.id, b.id], shown: a.id }, 1000);
  watch.changed(b);
  expect(woken).toEqual([]);
  watch.changed(a);
  watch.removed(a);
  expect(woken).toEqual(['demo', 'demo']);
});

test('the time that an owner waits runs from its first wait on, until it is forgotten', () => {
  expect(watch.waitFor('demo', { ids: ['x'], shown: 'x' }, 1000)).toBe(1000);
  expect(watch.waitFor('demo', { ids: ['y'], shown: 'y' }, 5000)).toBe(1000);
  watch.forget('demo');
  expect(watch.waitFor('demo', { ids: ['y'], shown: 'y' }, 7000)).toBe(7000);
});

test('owners that remove nothing are not woken', () => {
  if (a === undefined) throw new Error('no entries');
  watch.changed(a);
  watch.removed(a);
  expect(woken).toEqual([]);
});

test('an owner is woken once where one of its objects is annotated to be kept', () => {
  const annotations = { 'core.rukpak.io/keep': 'true' };
  const kept = anOwnedEntry('ConfigMap', { name: 'k', metadata: { annotations } });
  watch.changed(kept);
  watch.changed(kept);
  expect(woken).toEqual(['demo']);
  watch.changed(anOwnedEntry('ConfigMap', { name: 'k' }));
  watch.changed(kept);
  expect(woken).toEqual(['demo', 'demo']);
});

test('an owner does not wait for what another one has taken meanwhile', () => {
  if (a === undefined || b === undefined) throw new Error('no entries');
  watch.waitFor('demo', { ids: [a.id, b.id], shown: a.id }, 1000);
  watch.removed({ ...b, owner: 'other' });
  expect(woken).toEqual([]);
  watch.changed({ ...a, owner: 'other' });
  expect(woken).toEqual(['demo']);
  watch.removed({ ...a, owner: 'other' });
  expect(woken).toEqual(['demo']);
});
