import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { UploadStore } from '../../contracts/upload-store.ts';
import { aborted } from '../../platform/clock.ts';
import { IndexedCache } from '../../platform/runtime/index.ts';
import { DirectoryUploads } from '../../store/index.ts';
import { defaultContent } from '../settings.ts';
import { createUploadCollector, createUploads } from './uploads.ts';

const source = { type: 'upload', upload: {} };
const interval = 60_000;
let client: FakeKubeClient;
let clock: ManualClock;
let bundles: IndexedCache<Bundle>;
const collect = vi.fn<UploadStore['collect']>();
const onLeftover = vi.fn<(error: unknown) => void>();
const warn = vi.fn<Logger['warn']>();
const logger = { ...silentLogger, warn };

beforeEach(() => {
  client = new FakeKubeClient();
  clock = new ManualClock();
  bundles = new IndexedCache<Bundle>();
  collect.mockReset();
  onLeftover.mockReset();
  warn.mockReset();
});

async function passes(intervals: number): Promise<void> {
  for (let passed = 0; passed < intervals; passed += 1) {
    clock.advance(interval);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function start(store: Pick<UploadStore, 'collect'> = { collect }): { stop: () => Promise<void> } {
  const stop = new AbortController();
  const kinds = { bundles };
  const options = { store, client, kinds, interval, clock, onLeftover, logger };
  const running = createUploadCollector(options).run(stop.signal);
  return {
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}

test('what Bundles of the cache or of the API server want is kept', async () => {
  bundles.upsert(aStoredBundle({ name: 'known', source }));
  client.put(aStoredBundle({ name: 'new', source }));
  const collector = start();
  await passes(1);
  const isWanted = collect.mock.calls[0]?.[0];
  expect(await isWanted?.({ name: 'known', uid: 'uid-of-known' })).toBe(true);
  expect(client.calls).toEqual([]);
  expect(await isWanted?.({ name: 'new', uid: 'uid-of-new' })).toBe(true);
  expect(await isWanted?.({ name: 'new', uid: 'of-its-predecessor' })).toBe(false);
  expect(await isWanted?.({ name: 'gone', uid: 'uid-of-gone' })).toBe(false);
  await collector.stop();
});

test('nobody looks where no Bundle takes uploads, once what was left is gone', async () => {
  const collector = start();
  await passes(3);
  expect(collect).toHaveBeenCalledTimes(1);
  const bundle = aStoredBundle({ source });
  bundles.upsert(bundle);
  await passes(2);
  expect(collect).toHaveBeenCalledTimes(3);
  bundles.remove(bundle);
  await passes(3);
  expect(collect).toHaveBeenCalledTimes(4);
  await collector.stop();
});

test('uploads have a directory of their own: core says so at the start, and changes no file', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rukpak-uploads-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const archives = join(root, 'archives');
  await mkdir(join(archives, 'kept'), { recursive: true });
  await symlink(archives, join(root, 'link'));
  const create = (directory: string, storage: 'directory' | 'cluster' = 'directory') => {
    const uploads = { storage, directory, maxBytes: 1, syncInterval: interval };
    const settings = { uploads, content: { ...defaultContent, directory: archives } };
    const parts = { client, events: new EventList(), kinds: { bundles }, clock, onLeftover };
    return createUploads({ ...settings, systemNamespace: 'system', logger: silentLogger }, parts);
  };
  for (const directory of [archives, `${archives}/`, join(root, 'link'), join(archives, 'kept')]) {
    expect(() => create(directory)).toThrow(
      'is a directory of archives too (--provisioner-storage-dir): set --upload-storage-dir to another one',
    );
  }
  expect(create(join(archives, 'uploads'))).toBeDefined();
  expect(create(archives, 'cluster')).toBeDefined();
});

test('a failed search is told as one, and tried again after the next interval', async () => {
  collect.mockRejectedValueOnce(new Error('cannot reach the API server'));
  const collector = start();
  await passes(2);
  expect(collect).toHaveBeenCalledTimes(2);
  expect(onLeftover).not.toHaveBeenCalled();
  expect(warn.mock.calls).toEqual([
    [
      { error: 'cannot reach the API server' },
      'cannot look for uploads of deleted Bundles; core looks again later',
    ],
  ]);
  await collector.stop();
});

test('a stop in the middle of a search is told as nothing', async () => {
  collect.mockImplementation(async (_, signal) => {
    await aborted(signal);
    throw signal.reason;
  });
  const collector = start();
  await passes(1);
  await collector.stop();
  expect(onLeftover).not.toHaveBeenCalled();
  expect(warn).not.toHaveBeenCalled();
});

test('files that cannot be deleted are told as left over, until they can be', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'uploads-'));
  onTestFinished(async () => await rm(directory, { recursive: true }));
  const uid = '3f2a1b4c-0d5e-4f60-8a7b-9c0d1e2f3a4b';
  // A directory of that name is none of core's, and not deleted like a file.
  await mkdir(join(directory, `gone.${uid}.tgz`, 'kept'), { recursive: true });
  const collector = start(new DirectoryUploads(directory));
  while (onLeftover.mock.calls.length < 2) await passes(1);
  await collector.stop();
  expect(onLeftover.mock.calls[0]).toEqual([
    expect.objectContaining({ message: expect.stringContaining(`gone.${uid}.tgz`) as string }),
  ]);
  expect(warn).not.toHaveBeenCalled();
});
