import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { IndexedCache } from '../../platform/runtime/index.ts';
import { SelfWriteCache } from './kinds.ts';

function anObject(
  resourceVersion: string,
  metadata: KubernetesObject['metadata'] = {},
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'x', uid: 'u', generation: 1, resourceVersion, ...metadata },
    status: { at: resourceVersion },
  };
}

test('a listener can tell own writes from news', () => {
  const cache = new IndexedCache();
  const own = new SelfWriteCache(cache);
  const seen: boolean[] = [];
  cache.onChange(() => seen.push(own.isSelfWrite));
  cache.upsert(anObject('1'));
  own.upsertIfNewer(anObject('2'));
  cache.upsert(anObject('3'));
  own.upsertIfNewer(anObject('4', { finalizers: ['ours'] }));
  expect(seen).toEqual([false, true, false, true]);
  expect(own.get({ name: 'x' })?.metadata.resourceVersion).toBe('4');
});

test.each<[string, KubernetesObject['metadata']]>([
  ['spec', { generation: 2 }],
  ['deletion', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['ours'] }],
  ['labels', { labels: { changed: 'yes' } }],
  ['annotations', { annotations: { changed: 'yes' } }],
  ['identity', { uid: 'another' }],
])('the answer to an own write brings news: %s, before the watch does', (_, metadata) => {
  const cache = new IndexedCache();
  const own = new SelfWriteCache(cache);
  const seen: boolean[] = [];
  cache.upsert(anObject('1'));
  cache.onChange(() => seen.push(own.isSelfWrite));
  own.upsertIfNewer(anObject('3', metadata));
  cache.upsert(anObject('2', metadata));
  cache.upsert(anObject('3', metadata));
  expect(seen).toEqual([false]);
});

test('the first that is heard of an object is news', () => {
  const cache = new IndexedCache();
  const own = new SelfWriteCache(cache);
  const seen: boolean[] = [];
  cache.onChange(() => seen.push(own.isSelfWrite));
  own.upsertIfNewer(anObject('1'));
  expect(seen).toEqual([false]);
});

test('a listener that throws does not leave everything marked as own', () => {
  const cache = new IndexedCache();
  const own = new SelfWriteCache(cache);
  cache.upsert(anObject('1'));
  cache.onChange(() => {
    throw new Error('listener');
  });
  expect(() => own.upsertIfNewer(anObject('2'))).toThrow('listener');
  expect(own.isSelfWrite).toBe(false);
});
