import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { type CacheChange, IndexedCache } from './indexed-cache.ts';

interface Fields {
  readonly namespace?: string;
  readonly color?: string;
  readonly metadata?: object;
}

function aWidget(name: string, version: number | string, fields: Fields = {}): KubernetesObject {
  const { namespace, color = 'red', metadata } = fields;
  const resourceVersion = String(version);
  return {
    apiVersion: 'x/v1',
    kind: 'Widget',
    metadata: { name, ...(namespace && { namespace }), resourceVersion, ...metadata },
    color,
  };
}

function aCache() {
  const cache = new IndexedCache({ color: (object) => [String(object['color'])] });
  const changes: string[] = [];
  cache.onChange(({ type, object, previous }: CacheChange<KubernetesObject>) => {
    const was = previous === undefined ? '' : ` was ${previous.metadata.resourceVersion}`;
    changes.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}${was}`);
  });
  return { cache, changes };
}

function names(objects: readonly KubernetesObject[]): (string | undefined)[] {
  return objects.map(({ metadata }) => metadata.name);
}

describe('IndexedCache', () => {
  test('finds objects by key and index, and keeps namesakes of other namespaces apart', () => {
    const { cache } = aCache();
    cache.upsert(aWidget('a', 1, { namespace: 'n' }));
    cache.upsert(aWidget('a', 2, { namespace: 'm', color: 'blue' }));
    cache.upsert(aWidget('a', 3));
    expect(cache.size).toBe(3);
    expect(cache.get({ namespace: 'm', name: 'a' })?.['color']).toBe('blue');
    expect(cache.get({ name: 'a' })?.metadata.resourceVersion).toBe('3');
    expect(names(cache.byIndex('color', 'red'))).toEqual(['a', 'a']);
    expect(cache.byIndex('color', 'green')).toEqual([]);
    expect(() => cache.byIndex('size', '1')).toThrow('the cache has no index "size"');
  });

  test('moves an object between index values, and out with the object', () => {
    const { cache } = aCache();
    cache.upsert(aWidget('a', 1));
    cache.upsert(aWidget('a', 2, { color: 'blue' }));
    expect(cache.byIndex('color', 'red')).toEqual([]);
    expect(names(cache.byIndex('color', 'blue'))).toEqual(['a']);
    cache.remove(aWidget('a', 3));
    expect(cache.byIndex('color', 'blue')).toEqual([]);
  });

  test('reports each change once', () => {
    const { cache, changes } = aCache();
    cache.replace([aWidget('a', 1), aWidget('b', 2)], '2');
    cache.upsert(aWidget('a', 1));
    cache.upsert(aWidget('a', 5));
    cache.remove(aWidget('b', 6));
    cache.remove(aWidget('b', 6));
    cache.replace([aWidget('a', 5), aWidget('c', 7)], '7');
    cache.replace([aWidget('c', 7)], '8');
    expect(changes).toEqual([
      'added a 1',
      'added b 2',
      'updated a 5 was 1',
      'deleted b 6 was 2',
      'added c 7',
      'deleted a 5 was 5',
    ]);
  });

  test('stops telling a listener that left', () => {
    const cache = new IndexedCache();
    const seen: string[] = [];
    const leave = cache.onChange(({ type }) => seen.push(type));
    cache.upsert(aWidget('a', 1));
    leave();
    cache.upsert(aWidget('a', 2));
    expect(seen).toEqual(['added']);
  });

  test('after our own write, older events and lists do not bring back what was before', () => {
    const { cache, changes } = aCache();
    cache.upsert(aWidget('a', 98));
    cache.listing();
    cache.upsertIfNewer(aWidget('a', 101));
    cache.upsert(aWidget('a', 99));
    cache.replace([aWidget('a', 99)], '100');
    cache.remove(aWidget('a', 97));
    cache.upsert(aWidget('a', 101));
    expect(cache.get({ name: 'a' })?.metadata.resourceVersion).toBe('101');
    expect(changes).toEqual(['added a 98', 'updated a 101 was 98']);
  });

  test('a list of a restored store counts, whatever was seen before', () => {
    const { cache, changes } = aCache();
    cache.replace([aWidget('a', 5), aWidget('b', 6), aWidget('same', 7)], '7');
    cache.upsertIfNewer(aWidget('a', 100));
    cache.upsert(aWidget('made', 101));
    cache.remove(aWidget('b', 102));
    changes.length = 0;
    cache.listing();
    cache.upsertIfNewer(aWidget('new', 61));
    const restored = [aWidget('a', 5), aWidget('b', 6), aWidget('same', 7)];
    cache.replace(restored, '60');
    expect(new Set(cache.list())).toEqual(new Set([...restored, aWidget('new', 61)]));
    cache.upsertIfNewer(aWidget('b', 62));
    cache.upsert(aWidget('b', 63));
    expect(changes).toEqual([
      'added new 61',
      'deleted made 101 was 101',
      'updated a 5 was 100',
      'added b 6',
      'updated same 7 was 7',
      'updated b 62 was 6',
      'updated b 63 was 62',
    ]);
  });

  test('an object that is missing in a list does not return with an older response', () => {
    const { cache } = aCache();
    cache.replace([], '10');
    cache.upsertIfNewer(aWidget('a', 9));
    expect(cache.size).toBe(0);
    cache.upsertIfNewer(aWidget('a', 11));
    expect(cache.size).toBe(1);
  });

  test('our own deletion while a list is under way outlives the list', () => {
    const { cache } = aCache();
    cache.upsert(aWidget('a', 1));
    cache.listing();
    const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    cache.upsertIfNewer(aWidget('a', 12, { metadata }));
    cache.replace([aWidget('a', 1)], '10');
    expect(cache.size).toBe(0);
  });

  test('compares versions as integers, beyond 2^53 too', () => {
    const { cache } = aCache();
    cache.upsert(aWidget('a', '9007199254740993'));
    cache.upsertIfNewer(aWidget('a', '9007199254740992'));
    expect(cache.get({ name: 'a' })?.metadata.resourceVersion).toBe('9007199254740993');
    cache.upsertIfNewer(aWidget('a', '10000000000000000'));
    expect(cache.get({ name: 'a' })?.metadata.resourceVersion).toBe('10000000000000000');
  });

  test('an answer that comes late does not resurrect a deleted object', () => {
    const { cache } = aCache();
    cache.upsert(aWidget('a', 1));
    cache.remove(aWidget('a', 5));
    cache.upsertIfNewer(aWidget('a', 4));
    expect(cache.get({ name: 'a' })).toBeUndefined();
    cache.upsertIfNewer(aWidget('a', 6));
    expect(cache.get({ name: 'a' })).toBeDefined();
  });

  test('remembers the deletion of what it never held', () => {
    const { cache, changes } = aCache();
    cache.remove(aWidget('a', 5));
    cache.upsertIfNewer(aWidget('a', 4));
    expect(cache.size).toBe(0);
    expect(changes).toEqual([]);
  });

  test('the answer to the removal of the last finalizer ends the object', () => {
    const { cache, changes } = aCache();
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    cache.upsert(aWidget('a', 1, { metadata: { deletionTimestamp, finalizers: ['x'] } }));
    cache.upsertIfNewer(aWidget('a', 2, { metadata: { deletionTimestamp, finalizers: ['y'] } }));
    expect(cache.size).toBe(1);
    const graceful = { deletionTimestamp, deletionGracePeriodSeconds: 30 };
    cache.upsertIfNewer(aWidget('a', 3, { metadata: graceful }));
    expect(cache.size).toBe(1);
    cache.upsertIfNewer(aWidget('a', 4, { metadata: { deletionTimestamp } }));
    cache.remove(aWidget('a', 5));
    expect(changes.slice(-1)).toEqual(['deleted a 4 was 3']);
  });

  test('events from before our own removal of the last finalizer bring nothing back', () => {
    const { cache, changes } = aCache();
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const guarded = { finalizers: ['x'] };
    cache.upsert(aWidget('a', 1, { metadata: guarded }));
    cache.upsertIfNewer(aWidget('a', 3, { metadata: { deletionTimestamp, ...guarded } }));
    cache.upsertIfNewer(aWidget('a', 3, { metadata: { deletionTimestamp } }));
    cache.upsert(aWidget('a', 2, { metadata: guarded }));
    cache.upsert(aWidget('a', 3, { metadata: { deletionTimestamp, ...guarded } }));
    expect(cache.size).toBe(0);
    cache.remove(aWidget('a', 4));
    cache.upsert(aWidget('a', 5));
    expect(changes).toEqual(['added a 1', 'updated a 3 was 1', 'deleted a 3 was 3', 'added a 5']);
  });

  test('takes versions that are no numbers as they come', () => {
    const { cache } = aCache();
    cache.upsert(aWidget('a', 'v2'));
    cache.upsert(aWidget('a', 'v1'));
    expect(cache.get({ name: 'a' })?.metadata.resourceVersion).toBe('v1');
    cache.remove(aWidget('a', 'v0'));
    expect(cache.size).toBe(0);
  });

  test('its indexes always say what its objects say', () => {
    const step = fc.record({
      action: fc.constantFrom('upsert', 'remove', 'upsertIfNewer', 'replace'),
      name: fc.constantFrom('a', 'b', 'c'),
      version: fc.nat(20),
      color: fc.constantFrom('red', 'blue'),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const cache = new IndexedCache({ color: (object) => [String(object['color'])] });
        for (const { action, name, version, color } of steps) {
          const widget = aWidget(name, version, { color });
          if (action === 'replace') cache.replace([widget], String(version));
          else if (action === 'remove') cache.remove(widget);
          else if (action === 'upsert') cache.upsert(widget);
          else cache.upsertIfNewer(widget);
        }
        for (const color of ['red', 'blue']) {
          const expected = cache.list().filter((object) => object['color'] === color);
          expect(new Set(cache.byIndex('color', color))).toEqual(new Set(expected));
        }
      }),
    );
  });
});
