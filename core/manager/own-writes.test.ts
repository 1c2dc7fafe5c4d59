import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { IndexedCache } from '../runtime/indexed-cache.ts';
import { OwnWrites } from './own-writes.ts';

function anObject(resourceVersion: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', resourceVersion } };
}

test('a listener can tell own writes from news', () => {
  const cache = new IndexedCache();
  const own = new OwnWrites(cache);
  const seen: boolean[] = [];
  cache.onChange(() => seen.push(own.taking));
  own.upsertIfNewer(anObject('1'));
  cache.upsert(anObject('2'));
  own.upsertIfNewer(anObject('3'));
  expect(seen).toEqual([true, false, true]);
  expect(own.get({ name: 'x' })?.metadata.resourceVersion).toBe('3');
});

test('a listener that throws does not leave everything marked as own', () => {
  const cache = new IndexedCache();
  const own = new OwnWrites(cache);
  cache.onChange(() => {
    throw new Error('listener');
  });
  expect(() => own.upsertIfNewer(anObject('1'))).toThrow('listener');
  expect(own.taking).toBe(false);
});
