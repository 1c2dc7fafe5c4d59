import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { blobOfValue } from '../../../catalog/blobs/index.ts';
import { ContentStore, type StoredContent } from './content-store.ts';
import { writeContent } from './write-content.ts';

const { signal } = new AbortController();
const key = { kind: 'Catalog', name: 'shop' } as const;
let directory: string;
let store: ContentStore;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'content-store-'));
  store = new ContentStore(directory);
  await store.prepare();
});
afterEach(() => rm(directory, { recursive: true }));

function stateOf(digest: string) {
  const resolvedRef = `reg.example/shop@sha256:${digest}`;
  return { uid: 'uid-1', ref: 'reg.example/shop:v1', resolvedRef, unpackedAt: 1 };
}

async function put(digest: string, names: readonly string[]): Promise<StoredContent> {
  const from = join(await store.workspace(), 'content');
  await mkdir(from);
  async function* blobs() {
    for (const name of names) yield blobOfValue({ schema: 'olm.package', name });
  }
  await writeContent(from, blobs(), { limits: { maxBlobs: 9, maxNameBytes: 999 }, signal });
  return await store.put(key, stateOf(digest), from);
}

/** What a loss of power leaves: the size, without the content. */
async function blank(file: string): Promise<void> {
  const { length } = await readFile(file);
  await writeFile(file, Buffer.alloc(length));
}

describe('stored content', () => {
  test('is found again with its state, for the same object alone', async () => {
    await (await put('1', ['a'])).content[Symbol.asyncDispose]();
    const again = await new ContentStore(directory).open(key, 'uid-1');
    expect(again?.state).toEqual(stateOf('1'));
    expect([...(again?.content.records.packages ?? [])]).toEqual(['a']);
    await again?.content[Symbol.asyncDispose]();
    expect(await store.open(key, 'uid-2')).toBeUndefined();
    expect(await store.open({ ...key, kind: 'ClusterCatalog' }, 'uid-1')).toBeUndefined();
  });

  test('replaces the former, whose readers read on', async () => {
    const former = await put('1', ['a']);
    const next = await put('2', ['b']);
    const folder = join(directory, 'catalogs/rukpak.v2/Catalog/shop');
    expect((await readdir(folder)).toSorted()).toEqual(['sha256-1', 'sha256-2', 'state.json']);
    await store.removeFormer(key, next.state);
    const buffer = Buffer.alloc(former.content.blobs.size);
    await former.content.blobs.readInto(buffer, former.content.blobs.index.ranges({}));
    expect(buffer.toString()).toContain('"a"');
    expect((await readdir(folder)).toSorted()).toEqual(['sha256-2', 'state.json']);
    await former.content[Symbol.asyncDispose]();
    await next.content[Symbol.asyncDispose]();
  });

  test.each([
    ['cut', async (folder: string) => await truncate(join(folder, 'sha256-1/all.jsonl'), 3)],
    ['in part zeros', async (folder: string) => await blank(join(folder, 'sha256-1/all.jsonl'))],
    [
      'with zeros in its records',
      async (folder: string) => await blank(join(folder, 'sha256-1/packages/all.jsonl')),
    ],
    ['without its index', async (folder: string) => await rm(join(folder, 'sha256-1/index.json'))],
    [
      'without its records',
      async (folder: string) => await rm(join(folder, 'sha256-1/packages'), { recursive: true }),
    ],
    ['without its state', async (folder: string) => await rm(join(folder, 'state.json'))],
    [
      'with an odd state',
      async (folder: string) => await writeFile(join(folder, 'state.json'), '{"uid":1}'),
    ],
  ])('that is %s is missing', async (_, damage) => {
    await (await put('1', ['a'])).content[Symbol.asyncDispose]();
    await damage(join(directory, 'catalogs/rukpak.v2/Catalog/shop'));
    expect(await store.open(key, 'uid-1')).toBeUndefined();
    const again = await put('1', ['b']);
    expect([...again.content.records.packages]).toEqual(['b']);
    await again.content[Symbol.asyncDispose]();
  });
});

test('what a crash has left is removed at the start, stored content is not', async () => {
  await (await put('1', ['a'])).content[Symbol.asyncDispose]();
  await writeFile(join(await store.workspace(), 'half'), 'x');
  await new ContentStore(directory).prepare();
  expect(await readdir(join(directory, 'catalogs'))).toEqual(['rukpak.v2']);
  const kept = await store.open(key, 'uid-1');
  expect(kept).toBeDefined();
  await kept?.content[Symbol.asyncDispose]();
});

test('content without an object, and of other formats, is collected', async () => {
  await (await put('1', ['a'])).content[Symbol.asyncDispose]();
  await mkdir(join(directory, 'catalogs/rukpak.v0'), { recursive: true });
  expect(await store.collect(() => true)).toEqual([]);
  expect(await store.collect(() => false)).toEqual([key]);
  expect(await store.open(key, 'uid-1')).toBeUndefined();
  const names = await readdir(join(directory, 'catalogs'));
  // Work that is under way stays.
  expect(names.toSorted()).toEqual(['rukpak.v2', expect.stringMatching(/^rukpak\.v2\.new-/)]);
});

test('files of others in the directory stay', async () => {
  const files = ['catalogs/shop/catalog.yaml', 'catalogs/notes', 'unpack/catalog-abcdef/x', 'x'];
  for (const file of files) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), 'mine');
  }
  const again = new ContentStore(directory);
  await again.prepare();
  await again.collect(() => false);
  for (const file of files) {
    expect(await readFile(join(directory, file), 'utf8').catch(() => 'gone'), file).toBe('mine');
  }
});
