import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { defaultLimits } from '../content/index.ts';
import { DiskStore } from './disk-store.ts';
import { KeptArchives } from './kept-archives.ts';
import { FileKept } from './temporary-files.ts';

const key = { name: 'demo', uid: 'uid-of-demo' };
const bundle = aStoredBundle({
  metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
  status: { phase: 'Unpacked' },
});
const tree = aTree({ 'manifests/a.yaml': 'kind: ConfigMap' });

let directory: string;
let store: DiskStore;
let installed: (bundle: Bundle) => boolean;
let isLive: boolean;
let leftovers: unknown[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kept-archives-'));
  const onLeftover = (error: unknown): void => void leftovers.push(error);
  store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits, onLeftover });
  installed = ({ metadata }) => metadata.uid === key.uid;
  isLive = false;
  leftovers = [];
});

afterEach(async () => await rm(directory, { recursive: true }));

/** As a process that starts now has them. */
function keptArchives(limits = defaultLimits): KeptArchives {
  const isInstalled = (each: Bundle): boolean => installed(each);
  const onLeftover = (error: unknown): void => void leftovers.push(error);
  const known = { isInstalled, isLive: () => isLive };
  return new KeptArchives({ store, directory, limits, ...known, onLeftover });
}

async function text(kept: KeptArchives): Promise<string | undefined> {
  const content = (await kept.load(key))?.files.get('manifests/a.yaml');
  return content && Buffer.from(content).toString();
}

test('what is installed is kept when its Bundle goes, for a later process too', async () => {
  await store.put(key, tree);
  const kept = keptArchives();
  await kept.release(bundle);
  await kept.release(bundle);
  expect(await store.has(key)).toBe(false);
  for (const each of [kept, keptArchives()]) {
    expect(await text(each)).toBe('kind: ConfigMap');
    const { deletionTimestamp: _, ...metadata } = bundle.metadata;
    expect(each.get('demo')).toEqual({ ...bundle, metadata });
    expect(each.get('other')).toBeUndefined();
  }
  await kept.collect();
  expect(await text(kept)).toBe('kind: ConfigMap');
});

test('a record that cannot be written leaves no file: core tries again and again', async () => {
  await store.put(key, tree);
  const kept = join(directory, 'kept');
  await mkdir(join(kept, 'demo.json'), { recursive: true });
  await expect(keptArchives().release(bundle)).rejects.toThrow('EISDIR');
  expect(await readdir(kept)).toEqual(['demo.json']);
  expect(await store.has(key)).toBe(true);
});

test('a Bundle that comes under its name takes nothing from it', async () => {
  await store.put(key, tree);
  const kept = keptArchives();
  await kept.release(bundle);
  const namesake = aStoredBundle({ metadata: { uid: 'uid-of-namesake' } });
  await store.put({ name: 'demo', uid: 'uid-of-namesake' }, aTree({ other: '' }));
  await kept.release(namesake);
  expect((await store.list()).stored).toEqual([]);
  expect(await text(kept)).toBe('kind: ConfigMap');
  expect(await kept.load({ name: 'demo', uid: 'uid-of-namesake' })).toBeUndefined();
});

test('a Bundle that is released late takes nothing from a later one of its name', async () => {
  installed = () => false;
  const later = { name: 'demo', uid: 'uid-of-namesake' };
  await store.put(later, tree);
  await keptArchives().release(bundle);
  expect(await store.has(later)).toBe(true);
});

test('it goes when something else is installed', async () => {
  await store.put(key, tree);
  const kept = keptArchives();
  await kept.release(bundle);
  installed = () => false;
  await kept.collect();
  expect(await text(kept)).toBeUndefined();
  expect(await readdir(join(directory, 'kept'))).toEqual([]);
});

test('it goes when its Bundle has ended, if something else was installed while it ended', async () => {
  await store.put(key, tree);
  const kept = keptArchives();
  isLive = true;
  await kept.release(bundle);
  installed = () => false;
  await kept.collect();
  isLive = false;
  await kept.release(bundle);
  expect(kept.get('demo')).toBeUndefined();
  expect(await readdir(join(directory, 'kept'))).toEqual([]);
});

test('what is not installed goes with its Bundle, and no folder is made', async () => {
  installed = () => false;
  await store.put(key, tree);
  await keptArchives().release(bundle);
  expect(await readdir(directory)).toEqual([]);
});

test('a Bundle whose content is not stored here leaves nothing', async () => {
  const kept = keptArchives();
  await kept.release(bundle);
  expect(kept.get('demo')).toBeUndefined();
});

test('two who release it at once, and one who collects, leave nothing half done', async () => {
  await store.put(key, tree);
  const kept = keptArchives();
  await Promise.all([kept.release(bundle), kept.release(bundle), kept.collect()]);
  expect(await text(kept)).toBe('kind: ConfigMap');
  expect((await readdir(join(directory, 'kept'))).sort()).toEqual(['demo.json', 'demo.tgz']);
});

test('what is installed no more goes, even while it is about to be kept', async () => {
  await store.put(key, tree);
  const kept = keptArchives();
  const installing = installed;
  installed = (each) => {
    installed = () => false;
    return installing(each);
  };
  await Promise.all([kept.release(bundle), kept.collect()]);
  expect(await readdir(directory, { recursive: true })).toEqual(['kept']);
});

test('a later process keeps what one that died had written the record of only', async () => {
  await store.put(key, tree);
  await keptArchives().release(bundle);
  await rename(join(directory, 'kept', 'demo.tgz'), join(directory, 'demo.tgz'));
  const kept = keptArchives();
  await kept.resume();
  expect((await store.list()).stored).toEqual([]);
  expect(await text(kept)).toBe('kind: ConfigMap');
});

describe('a Bundle that exists again, after a restore of etcd', () => {
  beforeEach(async () => {
    await store.put({ ...key, pin: 'sha256:one' }, tree);
    await keptArchives().release(bundle);
    isLive = true;
  });

  test('has its archive for good: no later process moves it to those of deleted ones', async () => {
    const kept = keptArchives();
    expect(await kept.giveBack(key)).toBe(true);
    expect(await kept.giveBack(key)).toBe(false);
    expect(await readdir(join(directory, 'kept'))).toEqual([]);
    await keptArchives().resume();
    expect(await store.has({ ...key, pin: 'sha256:one' })).toBe(true);
  });

  test('keeps the archive that was fetched again in the meantime', async () => {
    await store.put(key, tree);
    await keptArchives().resume();
    expect(await store.has(key)).toBe(true);
  });

  test('does not lose what is kept of it, although it is not installed, until it is deleted', async () => {
    installed = () => false;
    const kept = keptArchives();
    await kept.collect();
    expect(await text(kept)).toBe('kind: ConfigMap');
    isLive = false;
    expect(await kept.giveBack(key)).toBe(false);
    await kept.collect();
    expect(await readdir(join(directory, 'kept'))).toEqual([]);
  });

  test('gets no content of another pin or UID, and replaces no file of others', async () => {
    const kept = keptArchives();
    expect(await kept.giveBack({ ...key, pin: 'sha256:other' })).toBe(false);
    expect(await kept.giveBack({ ...key, uid: 'uid-of-namesake' })).toBe(false);
    await writeFile(join(directory, 'demo.tgz'), 'theirs');
    expect(await kept.giveBack({ ...key, pin: 'sha256:one' })).toBe(true);
    expect(await readFile(join(directory, 'aside', 'demo.tgz'), 'utf8')).toBe('theirs');
    expect(leftovers).toEqual([expect.any(FileKept)]);
  });
});

test('a record whose archive could not be kept goes when it is not installed any more', async () => {
  await store.put(key, tree);
  const kept = keptArchives();
  vi.spyOn(store, 'move').mockRejectedValueOnce(new Error('disk full'));
  await expect(kept.release(bundle)).rejects.toThrow('disk full');
  await store.delete(key);
  installed = () => false;
  await kept.collect();
  expect(await readdir(directory, { recursive: true })).toEqual(['kept']);
});

test('it stays when it is damaged or over a lowered limit: the source may not have it any more', async () => {
  await store.put(key, aTree({ 'manifests/a.yaml': 'kind: ConfigMap'.repeat(100) }));
  await keptArchives().release(bundle);
  const path = join(directory, 'kept', 'demo.tgz');
  const whole = await readFile(path);
  await expect(keptArchives({ ...defaultLimits, maxBytes: 10 }).load(key)).rejects.toThrow(
    '--max-content-bytes',
  );
  expect(await readFile(path)).toEqual(whole);
  await writeFile(path, whole.subarray(0, -20));
  expect(await keptArchives().load(key)).toBeUndefined();
  const aside = join(directory, 'kept', 'aside', 'demo.tgz');
  expect(await readFile(aside)).toEqual(whole.subarray(0, -20));
  expect(leftovers).toEqual([
    new FileKept(
      `the archive of Bundle "demo" is damaged: core keeps it as "${aside}", and needs the content from its source again`,
    ),
  ]);
});

test('a record that cannot be read stops nothing', async () => {
  await store.put(key, tree);
  await keptArchives().release(bundle);
  await writeFile(join(directory, 'kept', 'demo.json'), '{');
  expect(keptArchives().get('demo')).toBeUndefined();
  expect(leftovers).toHaveLength(1);
});
