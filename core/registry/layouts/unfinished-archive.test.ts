import { copyFile, mkdtemp, open as openFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import type { ImageTarget } from '../configuration/place.ts';
import { mediaTypes } from '../media-types.ts';
import { digestOf } from '../reference.ts';
import { ArchiveTarget } from './archive-target.ts';
import { LayoutPlace } from './layout-place.ts';

const { signal } = new AbortController();
const layers = [Buffer.alloc(512, 'a'), Buffer.alloc(700, 'b'), Buffer.alloc(1, 'c')];
let dir: string;
let whole: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rukpak-archive-'));
  whole = join(dir, 'whole.tar');
  const target = await ArchiveTarget.open(whole, { overwrite: false, clock: systemClock });
  await write(target);
  await target.close();
});

afterAll(() => rm(dir, { recursive: true, force: true }));

/** @returns blobs that were not there before */
async function write(target: ImageTarget, tag = 'v1', content = layers): Promise<number> {
  let pushed = 0;
  const descriptors = content.map((bytes) => ({
    mediaType: mediaTypes.ociLayer,
    digest: digestOf(bytes),
    size: bytes.byteLength,
  }));
  for (const [index, descriptor] of descriptors.entries()) {
    const open = () => [content[index] ?? Buffer.alloc(0)];
    if ((await target.pushBlob({ descriptor, open }, signal)) === 'pushed') pushed += 1;
  }
  const mediaType = mediaTypes.ociManifest;
  const manifest = { schemaVersion: 2, mediaType, config: descriptors[0], layers: descriptors };
  const bytes = Buffer.from(JSON.stringify(manifest));
  await target.pushManifest({ bytes, mediaType, tag }, signal);
  return pushed;
}

async function checkWhole(path: string): Promise<void> {
  const place = await LayoutPlace.openArchive(path);
  await place.manifest('v1', signal);
  for (const bytes of layers) {
    const blob = place.blob({ digest: digestOf(bytes), size: bytes.byteLength }, signal);
    const chunks: Uint8Array[] = [];
    for await (const chunk of blob) chunks.push(chunk);
    await blob.verify();
    expect(Buffer.concat(chunks)).toEqual(bytes);
  }
  await place.close();
}

test('wherever it was broken off, an archive is gone on with', async () => {
  const { size } = await stat(whole);
  const path = join(dir, 'broken.tar');
  const counts = new Set<number>();
  for (let length = 0; length < size; length += 173) {
    await copyFile(whole, `${path}.partial`);
    await truncate(`${path}.partial`, length);
    const target = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
    counts.add(await write(target));
    await target.close();
    await checkWhole(path);
    await rm(path);
  }
  expect(counts).toEqual(new Set([0, 1, 2, 3]));
});

test('content that was not checked before the end is not kept', async () => {
  const path = join(dir, 'unchecked.tar');
  const target = await ArchiveTarget.open(path, { overwrite: false, clock: systemClock });
  const [bytes = Buffer.alloc(0)] = layers;
  const descriptor = { digest: digestOf(bytes), size: bytes.byteLength };
  await target.pushBlob({ descriptor, open: () => [bytes] }, signal);
  await target.close();
  const file = await openFile(path, 'r+');
  await file.truncate(512 + 512 + 512 + 512);
  await file.write('x', 512 + 512 + 512);
  await file.close();
  await rename(path, `${path}.partial`);
  const resumed = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  expect(await resumed.hasBlob(descriptor)).toBe(false);
  await resumed.discard();
});

/** Overwrites a part of a file with zeros, as a loss of power leaves parts that were not written. */
async function loseAt(path: string, start: number, size: number): Promise<void> {
  const file = await openFile(path, 'r+');
  await file.write(Buffer.alloc(size), 0, size, start);
  await file.close();
}

test.each([
  ['the first blob', 0],
  ['one in the middle', 1],
])('%s that was lost is written again', async (_case, index) => {
  const path = join(dir, 'lost.tar');
  await copyFile(whole, `${path}.partial`);
  const starts = [3 * 512, 5 * 512, 8 * 512];
  await loseAt(`${path}.partial`, starts[index] ?? 0, layers[index]?.byteLength ?? 0);
  const target = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  expect(await write(target)).toBe(1);
  await target.close();
  await checkWhole(path);
  await rm(path);
});

test('a manifest that was lost is written again, though the index lists it', async () => {
  const path = join(dir, 'lost-manifest.tar');
  await copyFile(whole, `${path}.partial`);
  // After the three layers: their headers and contents have 2, 3 and 2 blocks, as has the layout file.
  await loseAt(`${path}.partial`, 10 * 512, 100);
  const target = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  expect(await target.findDigest('v1')).toBeUndefined();
  await write(target);
  await target.close();
  await checkWhole(path);
  await rm(path);
});

test('an index whose artifact was lost gives way to the one before', async () => {
  const path = join(dir, 'lost-artifact.tar');
  await copyFile(whole, path);
  const first = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  const before = await first.findDigest('v1');
  await write(first, 'v1', [...layers, Buffer.from('more')]);
  await first.close();
  await rename(path, `${path}.partial`);
  const { size } = await stat(`${path}.partial`);
  // After the manifest are a second block of it, two of the index, and two that end the archive.
  await loseAt(`${path}.partial`, size - 6 * 512, 100);
  const target = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  expect(await target.findDigest('v1')).toBe(before);
  await target.discard();
});

test('an index that was lost gives way to the one before', async () => {
  const path = join(dir, 'lost-index.tar');
  await copyFile(whole, path);
  const further = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  await write(further, 'v2');
  await further.close();
  await rename(path, `${path}.partial`);
  const { size } = await stat(`${path}.partial`);
  await loseAt(`${path}.partial`, size - 1024 - 512, 512);
  const target = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  expect(await target.findDigest('v1')).toBeDefined();
  expect(await target.findDigest('v2')).toBeUndefined();
  await target.discard();
});

test('the check of an interrupted archive ends with its command', async () => {
  const path = join(dir, 'stopped.tar');
  await copyFile(whole, `${path}.partial`);
  const stopped = AbortSignal.abort(new Error('received SIGINT'));
  const options = { artifact: 'v1', clock: systemClock, signal: stopped };
  await expect(ArchiveTarget.resume(path, options)).rejects.toThrow(/^received SIGINT$/);
  expect((await stat(`${path}.partial`)).size).toBe((await stat(whole)).size);
});

test('a finished archive gets more, and is as it was when nothing is new', async () => {
  const path = join(dir, 'finished.tar');
  await copyFile(whole, path);
  const target = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  expect(await write(target)).toBe(0);
  await target.close();
  await checkWhole(path);
  expect((await stat(path)).size).toBe((await stat(whole)).size);
});

test('a finished archive of which a part is missing is refused and stays as it is', async () => {
  const path = join(dir, 'cut.tar');
  const { size } = await stat(whole);
  // After the header of the index, and before it.
  for (const [length, problem] of [
    [size - 1536, 'unexpected EOF'],
    [size - 2048, 'it is not whole'],
  ] as const) {
    await copyFile(whole, path);
    await truncate(path, length);
    await expect(
      ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock }),
    ).rejects.toThrow(`cannot write on ${path}: ${problem}; name another file`);
    expect((await stat(path)).size).toBe(length);
  }
});

test('wherever a further run was broken off, an archive has what the index of the first one lists', async () => {
  const path = join(dir, 'further.tar');
  await copyFile(whole, path);
  const further = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
  await write(further, 'v2', [Buffer.alloc(900, 'd')]);
  await further.close();
  await rename(path, `${path}.whole`);
  const { size } = await stat(`${path}.whole`);
  const { size: before } = await stat(whole);
  for (let length = before - 1024; length < size; length += 173) {
    await copyFile(`${path}.whole`, `${path}.partial`);
    await truncate(`${path}.partial`, length);
    const target = await ArchiveTarget.resume(path, { artifact: 'v1', clock: systemClock });
    expect(await target.findDigest('v1')).toBeDefined();
    await write(target, 'v2', [Buffer.alloc(900, 'd')]);
    await target.close();
    await checkWhole(path);
    await rm(path);
  }
});
