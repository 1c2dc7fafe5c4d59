import { describe, expect, test } from 'vitest';
import { CatalogIndex, type IndexedBlob } from './catalog-index.ts';

const blobs: readonly (IndexedBlob & { readonly length: number })[] = [
  { schema: 'olm.package', package: '', name: 'a', length: 10 },
  { schema: 'olm.channel', package: 'a', name: 'stable', length: 20 },
  { schema: 'olm.bundle', package: 'a', name: 'a.v1', length: 300 },
  { schema: 'olm.package', package: '', name: '__proto__', length: 5 },
  { schema: 'olm.channel', package: '__proto__', name: 'stable', length: 7 },
  { schema: 'acme', package: 'a', name: '', length: 1 },
];

function anIndex(): CatalogIndex {
  const index = new CatalogIndex();
  for (const blob of blobs) index.add(blob, blob.length);
  return index;
}

describe.each([
  ['built', anIndex()],
  ['kept in a file', CatalogIndex.read(JSON.parse(JSON.stringify(anIndex())))],
])('an index, %s,', (_, index) => {
  test.each([
    [{}, [{ start: 0, end: 343 }]],
    [{ schema: 'olm.channel' }, [ranges(10, 30), ranges(335, 342)]],
    [{ package: 'a' }, [ranges(10, 330), ranges(342, 343)]],
    [{ package: 'a', name: 'stable' }, [ranges(10, 30)]],
    [{ package: '__proto__' }, [ranges(335, 342)]],
    [{ schema: 'acme', package: 'a', name: '' }, [ranges(342, 343)]],
    [{ schema: 'olm.package', package: 'a' }, []],
    [{ name: 'toString' }, []],
  ])('finds %j', (query, expected) => {
    expect(index.ranges(query)).toEqual(expected);
  });

  test('knows its blobs', () => {
    expect(index.blobs).toBe(6);
    expect(index.blob(4)).toEqual({ schema: 'olm.channel', package: '__proto__', name: 'stable' });
    expect(index.values('schema')).toEqual(['olm.package', 'olm.channel', 'olm.bundle', 'acme']);
  });
});

test.each([
  ['no object', []],
  ['an offset that goes back', { ...anIndexAsValue(), ends: [10, 30, 330, 335, 342, 3] }],
  ['a blob without a value', { ...anIndexAsValue(), name: { values: ['a'], blobs: [1] } }],
])('%s is no index', (_, value) => {
  expect(() => CatalogIndex.read(value)).toThrow();
});

function anIndexAsValue(): object {
  return JSON.parse(JSON.stringify(anIndex())) as object;
}

function ranges(start: number, end: number): { start: number; end: number } {
  return { start, end };
}
