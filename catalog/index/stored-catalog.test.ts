import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attributesDigest, contentDigest } from './source-digest.ts';
import { type BlobToStore, StoredCatalog, storeCatalog } from './stored-catalog.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stored-catalog-'));
});
afterEach(() => rm(directory, { recursive: true }));

const blobs: readonly BlobToStore[] = [
  { schema: 'olm.package', package: '', name: 'a', value: { name: 'a', defaultChannel: 'é' } },
  { schema: 'olm.bundle', package: 'a', name: 'a.v1', value: { big: 'x'.repeat(600_000) } },
  { schema: 'olm.bundle', package: 'a', name: 'a.v2', value: { z: 1, a: 2 } },
];

async function* stream(values: readonly BlobToStore[]): AsyncGenerator<BlobToStore> {
  yield* values;
}

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  return Buffer.concat(read).toString();
}

describe('a stored catalog', () => {
  test('returns the lines of the blobs that are asked for, large ones in pieces', async () => {
    await storeCatalog(directory, stream(blobs));
    await using catalog = await StoredCatalog.open(directory);
    const all = await textOf(catalog.read(catalog.index.ranges({})));
    expect(all).toBe(
      `{"defaultChannel":"é","name":"a"}\n{"big":"${'x'.repeat(600_000)}"}\n{"a":2,"z":1}\n`,
    );
    expect(catalog.size).toBe(Buffer.byteLength(all));
    const ranges = catalog.index.ranges({ name: 'a.v2' });
    const buffer = Buffer.alloc(20, '.');
    await catalog.readInto(buffer, [...ranges, { start: 0, end: 3 }]);
    expect(buffer.toString()).toBe('{"a":2,"z":1}\n{"d...');
    const found: unknown[] = [];
    for await (const blob of catalog.blobs([0, 1, 2])) found.push(blob);
    for await (const blob of catalog.blobs([2, 0])) found.push(blob);
    expect(found).toEqual([0, 1, 2, 2, 0].map((number) => blobs[number]));
  });

  test('of no blobs is empty', async () => {
    await storeCatalog(directory, stream([]));
    await using catalog = await StoredCatalog.open(directory);
    expect([catalog.size, catalog.index.ranges({})]).toEqual([0, []]);
  });

  test('has a limit, which is named', async () => {
    await storeCatalog(directory, stream(blobs), { maxBytes: 600_100 });
    await expect(storeCatalog(directory, stream(blobs), { maxBytes: 600_000 })).rejects.toThrow(
      /^the blobs of the catalog have more than the limit of 600000 bytes as JSON$/,
    );
  });

  test.each([
    ['64 MiB', 700],
    ['what a text of V8 can have', 6000],
  ])('has no blob of more than %s', { tags: ['slow'] }, async (_case, times) => {
    // One object, as the aliases of a document name it.
    const alias = 'x'.repeat(100_000);
    const value = { aliases: Array<string>(times).fill(alias) };
    const large = { schema: 'olm.bundle', package: 'a', name: 'a.v1', value };
    await expect(storeCatalog(directory, stream([large]))).rejects.toThrow(
      /^blob "a.v1" \(olm.bundle of package "a"\) has more than the limit of 67108864 bytes as JSON$/,
    );
  });

  test('that was cut is not opened', async () => {
    await storeCatalog(directory, stream(blobs));
    await truncate(join(directory, 'all.jsonl'), 5);
    await expect(StoredCatalog.open(directory)).rejects.toThrow('differ in size');
  });

  test('has the digest of its content', async () => {
    await storeCatalog(directory, stream(blobs));
    await using first = await StoredCatalog.open(directory);
    await storeCatalog(directory, stream(blobs.toReversed()));
    await using second = await StoredCatalog.open(directory);
    await storeCatalog(directory, stream(blobs));
    await using third = await StoredCatalog.open(directory);
    expect(first.digest).not.toBe(second.digest);
    expect(first.digest).toBe(third.digest);
  });
});

test('the digest of a directory tells every edit', async () => {
  const file = join(directory, 'catalog.json');
  await writeFile(file, '{"schema":"a"}');
  const content = await contentDigest(directory);
  const attributes = await attributesDigest(directory);
  await writeFile(file, '{"schema":"b"}');
  expect(await contentDigest(directory)).not.toBe(content);
  expect(await attributesDigest(directory)).not.toBe(attributes);
  await writeFile(file, '{"schema":"a"}');
  expect(await contentDigest(directory)).toBe(content);
});
