import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blobOfValue } from '../../../catalog/blobs/index.ts';
import { CatalogContent } from './catalog-content.ts';
import { writeContent } from './write-content.ts';

const { signal } = new AbortController();
const catalog = { name: 'shop', namespace: '', priority: 0 };
const limits = { maxBlobs: 1_000_000, maxNameBytes: 10_000_000 };
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalog-content-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function contentOf(blobs: Iterable<object>, own = limits): Promise<CatalogContent> {
  async function* read() {
    for (const blob of blobs) yield blobOfValue(blob as Parameters<typeof blobOfValue>[0]);
  }
  await writeContent(directory, read(), { limits: own, signal });
  return await CatalogContent.open(directory);
}

const packageProperty = (version: string) => ({
  type: 'olm.package',
  value: { packageName: 'a', version },
});

test('a package is read as resolvers need it', async () => {
  await using content = await contentOf([
    { schema: 'olm.package', name: 'a', defaultChannel: 'stable', icon: { base64data: 'AAAA' } },
    {
      schema: 'olm.channel',
      package: 'a',
      name: 'stable',
      entries: [
        { name: 'a.v1' },
        { name: 'a.v2', replaces: 'a.v1', skips: ['a.v0'], skipRange: '<2.0.0' },
      ],
    },
    {
      schema: 'olm.bundle',
      package: 'a',
      name: 'a.v1',
      image: 'q.io/a:1',
      properties: [
        packageProperty('1.0.0'),
        { type: 'olm.bundle.object', value: { data: 'no base64!' } },
        { type: 'olm.csv.metadata', value: { large: true } },
        { type: 'acme', value: [1] },
      ],
    },
    { schema: 'olm.bundle', package: 'a', name: 'a.odd', properties: [packageProperty('v1')] },
    {
      schema: 'olm.deprecations',
      package: 'a',
      entries: [
        { reference: { schema: 'olm.bundle', name: 'a.v1' }, message: 'old' },
        { reference: { schema: 'acme', name: 'x' }, message: 'ignored' },
      ],
    },
    { schema: 'acme', package: 'a', name: 'anything' },
    { schema: 'olm.package', name: 'b' },
  ]);
  expect(await content.records.findPackage('a', catalog)).toEqual({
    content: {
      catalog,
      name: 'a',
      defaultChannel: 'stable',
      channels: [
        {
          name: 'stable',
          entries: [
            { name: 'a.v1', skips: [] },
            { name: 'a.v2', skips: ['a.v0'], replaces: 'a.v1', skipRange: '<2.0.0' },
          ],
        },
      ],
      bundles: [
        {
          name: 'a.v1',
          image: 'q.io/a:1',
          version: expect.objectContaining({ major: expect.anything() }),
          properties: [packageProperty('1.0.0'), { type: 'acme', value: [1] }],
        },
        { name: 'a.odd', image: '', version: undefined, properties: [packageProperty('v1')] },
      ],
      deprecations: [{ schema: 'olm.bundle', name: 'a.v1', message: 'old' }],
    },
  });
  expect([...content.records.packages]).toEqual(['a', 'b']);
  expect(await content.records.findPackage('__proto__', catalog)).toBeUndefined();
});

test('a version counts in any case of its field, as for OLM', async () => {
  const properties = [{ type: 'olm.package', value: { PackageName: 'a', Version: '1.2.3' } }];
  await using content = await contentOf([
    { schema: 'olm.bundle', package: 'a', name: 'a.v1', properties },
  ]);
  expect(await content.records.findPackage('a', catalog)).toMatchObject({
    content: { bundles: [{ version: { major: 1n, minor: 2n, patch: 3n } }] },
  });
});

test('a broken package breaks no other', async () => {
  await using content = await contentOf([
    { schema: 'olm.channel', package: 'a', name: 'x', entries: 'none' },
    { schema: 'olm.package', name: 'b', defaultChannel: 'c' },
  ]);
  expect(await content.records.findPackage('a', catalog)).toEqual({
    problem: expect.stringContaining('cannot unmarshal string'),
  });
  expect(await content.records.findPackage('b', catalog)).toMatchObject({
    content: { defaultChannel: 'c' },
  });
});

test('packages are found by the APIs that any of their bundles provides', async () => {
  const gvk = (kind: string) => ({
    type: 'olm.gvk',
    value: { group: 'g.io', version: 'v1', kind },
  });
  const bundle = (name: string, ...properties: readonly object[]) => ({
    schema: 'olm.bundle',
    package: name,
    name: `${name}.v${properties.length}`,
    properties,
  });
  await using content = await contentOf([
    bundle('b', gvk('Both'), gvk('Both')),
    bundle('a', gvk('Own'), gvk('Both'), { type: 'olm.gvk', value: 5 }),
    bundle('a', gvk('Own')),
    { schema: 'olm.channel', package: 'broken', name: 'x', entries: 'none' },
  ]);
  const providing = (kind: string) =>
    content.records.packagesProviding({ group: 'g.io', version: 'v1', kind });
  expect([providing('Both'), providing('Own'), providing('None')]).toEqual([['a', 'b'], ['a'], []]);
  expect([...content.records.packages].toSorted()).toEqual(['a', 'b', 'broken']);
});

test('a channel of 100,000 entries is read', { tags: ['slow'] }, async () => {
  const entries = Array.from({ length: 100_000 }, (_, n) => ({ name: `a.v${n}`, replaces: 'x' }));
  await using content = await contentOf([
    { schema: 'olm.channel', package: 'a', name: 'x', entries },
  ]);
  const found = await content.records.findPackage('a', catalog);
  expect(found).toMatchObject({ content: { channels: [{ name: 'x' }] } });
});

test('a package that is too large has a problem of its own', async () => {
  const value = 'x'.repeat(1024 * 1024);
  const bundles = Array.from({ length: 9 }, (_, n) => ({
    schema: 'olm.bundle',
    package: 'a',
    name: `a.v${n}`,
    properties: [{ type: 'acme', value }],
  }));
  await using content = await contentOf([...bundles, { schema: 'olm.package', name: 'b' }]);
  expect(await content.records.findPackage('a', catalog)).toEqual({
    problem: expect.stringContaining('more than 8388608 bytes'),
  });
  expect(await content.records.findPackage('b', catalog)).toHaveProperty('content');
});

test.each([
  ['blobs', { maxBlobs: 2 }, 'more than the limit of 2 blobs'],
  ['bytes of names', { maxNameBytes: 20 }, 'more than the limit of 20 bytes'],
])('too many %s are refused', async (_, own, message) => {
  const blobs = [1, 2, 3].map((n) => ({ schema: 'olm.package', name: `p${n}` }));
  await expect(contentOf(blobs, { ...limits, ...own })).rejects.toThrow(message);
});

test('a package that the disk has damaged is fetched again', async () => {
  await using content = await contentOf([{ schema: 'olm.package', name: 'a' }]);
  const file = join(content.directory, 'packages', 'all.jsonl');
  await writeFile(file, Buffer.alloc((await stat(file)).size));
  expect(await content.records.findPackage('a', catalog)).toEqual({
    problem: expect.stringMatching(
      /^package a cannot be read from the disk: .*\. If the content on the disk is damaged, the controller fetches the catalog again by itself$/,
    ),
    isUnreadable: true,
  });
});
