import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import type { OpenTargetOptions } from '../configuration/place.ts';
import { emptyKeychain, RegistryAccess } from '../index.ts';
import { mediaTypes } from '../media-types.ts';
import { digestOf } from '../reference.ts';

const { signal } = new AbortController();
const access = new RegistryAccess({
  insecureRegistries: [],
  caCertificates: [],
  keychain: emptyKeychain,
  clock: systemClock,
});
const resume: OpenTargetOptions = { resume: 'record' };
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'writers-'));
});

afterEach(() => rm(dir, { recursive: true }));

/** Opens a place, and pushes an artifact without blobs under a tag. */
async function pushTo(place: string, tag: string, options?: OpenTargetOptions): Promise<void> {
  const { target } = await access.openTarget(place, options);
  const empty = Buffer.from('{}');
  const config = { mediaType: 'text/plain', digest: digestOf(empty), size: 2 };
  await target.pushBlob({ descriptor: config, open: () => [empty] }, signal);
  const mediaType = mediaTypes.ociManifest;
  const manifest = { schemaVersion: 2, mediaType, config, layers: [], annotations: { tag } };
  const bytes = Buffer.from(JSON.stringify(manifest));
  await target.pushManifest({ bytes, mediaType, tag }, signal);
  await target.close();
}

test('two writers of one directory lose nothing of each other', async () => {
  const place = `oci:${join(dir, 'images')}`;
  const tags = ['v1', 'v2', 'v3', 'v4'];
  await Promise.all(tags.map((tag) => pushTo(place, tag)));
  for (const tag of tags) {
    const { place: opened } = await access.open(`${place}:${tag}`, signal);
    await opened.close();
  }
  expect((await readdir(join(dir, 'images'))).toSorted()).toEqual([
    'blobs',
    'index.json',
    'oci-layout',
  ]);
});

describe.each([
  ['directory', 'oci:', 'images/.writer.lock'],
  ['tar', 'oci-archive:', 'images.lock'],
])('a %s', (_kind, prefix, lock) => {
  const path = () => join(dir, 'images');
  const place = () => `${prefix}${path()}`;

  test('that a run continues is refused to another writer, and stays as it is', async () => {
    const { target } = await access.openTarget(place(), resume);
    await expect(access.openTarget(place(), resume)).rejects.toThrow(
      `cannot write ${path()}: process ${process.pid} has been writing it since `,
    );
    await target.discard();
    await pushTo(place(), 'v1', resume);
    await (await access.open(`${place()}:v1`, signal)).place.close();
  });

  test('that a killed process was writing is gone on with', { tags: 'process' }, async () => {
    const program = `
      const { RegistryAccess, emptyKeychain } = await import(${JSON.stringify(join(import.meta.dirname, '../index.ts'))});
      const { systemClock: clock } = await import(${JSON.stringify(join(import.meta.dirname, '../../platform/clock.ts'))});
      const access = new RegistryAccess({ insecureRegistries: [], caCertificates: [], keychain: emptyKeychain, clock });
      await access.openTarget(${JSON.stringify(place())}, { resume: 'record' });
      process.kill(process.pid, 'SIGKILL');
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    expect(JSON.parse(await readFile(join(dir, lock), 'utf8'))).toMatchObject({ pid: child.pid });
    await pushTo(place(), 'v1', resume);
    await (await access.open(`${place()}:v1`, signal)).place.close();
  });

  test('that another host may be writing is refused, and the message names the file', async () => {
    const { target } = await access.openTarget(place(), resume);
    const text = await readFile(join(dir, lock), 'utf8');
    await target.discard();
    const other = JSON.stringify({ ...JSON.parse(text), host: 'other-host', machine: 'other' });
    await writeFile(join(dir, lock), other);
    await expect(access.openTarget(place(), resume)).rejects.toThrow(
      `cannot write ${path()}: process ${process.pid} of host other-host has been writing it since `,
    );
    await expect(access.openTarget(place(), resume)).rejects.toThrow(
      `if it has ended, delete ${join(dir, lock)}`,
    );
    expect(await readFile(join(dir, lock), 'utf8')).toBe(other);
  });

  test('that has something else as lock file is refused', async () => {
    const { target } = await access.openTarget(place(), resume);
    await target.discard();
    await writeFile(join(dir, lock), 'something');
    await expect(access.openTarget(place(), resume)).rejects.toThrow(
      `cannot write ${path()}: ${join(dir, lock)} is no lock file of this program`,
    );
  });
});
