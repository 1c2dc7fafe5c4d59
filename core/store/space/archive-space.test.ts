import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import { BundleFilesBuilder, defaultLimits as limits } from '../../content/index.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import { WaitingError } from '../../errors.ts';
import { DiskStore } from '../disk-store.ts';
import { KeptArchives } from '../kept-archives.ts';
import { ArchiveSpace } from './archive-space.ts';

/** Bytes; messages round up to mebibytes. */
const unit = 256 * 1024;
let directory: string;

beforeEach(async () => {
  const made = await mkdtemp(join(tmpdir(), 'archive-space-'));
  onTestFinished(() => rm(made, { recursive: true }));
  directory = made;
});

/** The Bundles of a creator have its name and a number. */
function aStore(isStored = false, given: ContentLimits = limits, maxBytes = 10 * unit) {
  const clock = new ManualClock();
  const space = new ArchiveSpace({
    maxBytes,
    clock,
    creatorOf: (bundle) => `user ${bundle.split('-')[0]}`,
    isStored: () => isStored,
  });
  const options = { directory, limits: given, space };
  const store = new DiskStore({ ...options, externalAddress: '' });
  const known = { isInstalled: () => true, isLive: () => false };
  const parts = { store, ...known, onLeftover: () => undefined };
  return { store, space, clock, kept: new KeptArchives({ ...options, ...parts }) };
}

/** Content that does not become smaller. */
function content(units: number): BundleFiles {
  const builder = new BundleFilesBuilder(limits);
  builder.addFile('a', randomBytes(units * unit));
  return builder.build();
}

function keyOf(name: string) {
  return { name, uid: `uid-of-${name}` };
}

async function put(store: DiskStore, name: string, units: number): Promise<void> {
  await store.put(keyOf(name), content(units));
}

describe('the archives of all Bundles', () => {
  test('take no more than they may: one that would waits, and the others stay', async () => {
    const { store } = aStore();
    for (const name of ['a-1', 'b-1', 'c-1']) await put(store, name, 3);
    const refused = put(store, 'd-1', 2);
    await expect(refused).rejects.toThrow(WaitingError);
    await expect(refused).rejects.toThrow(
      'the archives of all Bundles take 3 MiB of 3 MiB (--max-archive-bytes), and this one needs 1 MiB: delete Bundles that are not needed, or allow more',
    );
    expect((await readdir(directory)).toSorted()).toEqual(['a-1.tgz', 'b-1.tgz', 'c-1.tgz']);
    await store.delete(keyOf('a-1'));
    await put(store, 'd-1', 2);
  });

  test('count after a restart, and when their Bundle is deleted and they are installed', async () => {
    const { store, kept } = aStore();
    for (const name of ['a-1', 'b-1', 'c-1']) await put(store, name, 3);
    await kept.release(aStoredBundle({ name: 'a-1', metadata: { uid: keyOf('a-1').uid } }));
    await expect(put(store, 'd-1', 2)).rejects.toThrow('3 MiB of 3 MiB');
    await expect(put(aStore().store, 'd-1', 2)).rejects.toThrow('3 MiB of 3 MiB');
  });

  test('do not count when an admin has deleted them', async () => {
    const { store } = aStore();
    for (const name of ['a-1', 'b-1', 'c-1']) await put(store, name, 3);
    await rm(join(directory, 'b-1.tgz'));
    await put(store, 'd-1', 2);
  });

  test('are looked at before a fetch: by the size that was refused, else for any room', async () => {
    const { store } = aStore();
    for (const name of ['a-1', 'b-1', 'c-1']) await put(store, name, 3);
    await store.checkRoom(keyOf('d-1'));
    await expect(put(store, 'd-1', 2)).rejects.toThrow('and this one needs 1 MiB');
    await expect(store.checkRoom(keyOf('d-1'))).rejects.toThrow('and this one needs 1 MiB');
    await store.checkRoom({ name: 'd-1', uid: 'uid-of-namesake' });
    const full = aStore(false, limits, 9 * unit).store;
    await expect(full.checkRoom(keyOf('d-1'))).rejects.toThrow(
      'the archives of all Bundles take 3 MiB of 3 MiB (--max-archive-bytes): delete Bundles',
    );
    await full.checkRoom(keyOf('a-1'));
    await store.delete(keyOf('a-1'));
    await store.checkRoom(keyOf('d-1'));
  });

  test('are tried again once an hour by any room: the content of the source may be smaller by then', async () => {
    const { store, clock } = aStore();
    for (const name of ['a-1', 'b-1', 'c-1']) await put(store, name, 3);
    await expect(put(store, 'd-1', 2)).rejects.toThrow(WaitingError);
    clock.advance(60 * 60_000 - 1);
    await expect(store.checkRoom(keyOf('d-1'))).rejects.toThrow(WaitingError);
    clock.advance(1);
    await store.checkRoom(keyOf('d-1'));
  });

  test('that were refused are told when there is room for them, and no others', async () => {
    const { store, space } = aStore();
    const told: string[] = [];
    space.onRoom((bundle) => told.push(bundle));
    for (const name of ['a-1', 'b-1', 'c-1']) await put(store, name, 3);
    await expect(put(store, 'large-1', 5)).rejects.toThrow(WaitingError);
    await expect(put(store, 'small-1', 2)).rejects.toThrow(WaitingError);
    await put(store, 'c-1', 2);
    expect(told).toEqual([]);
    await store.delete(keyOf('a-1'));
    expect(told).toEqual(['small-1']);
    await put(store, 'small-1', 2);
    await store.delete(keyOf('b-1'));
    expect(told).toEqual(['small-1', 'large-1']);
  });

  test('may be replaced by others of their Bundles', async () => {
    const { store } = aStore();
    for (const name of ['a-1', 'b-1', 'c-1']) await put(store, name, 3);
    await put(store, 'c-1', 3);
  });
});

describe('the archives of one creator', () => {
  test('leave a part to those of others', async () => {
    const { store } = aStore();
    for (const number of [1, 2, 3]) await put(store, `greedy-${number}`, 2);
    await expect(put(store, 'greedy-4', 2)).rejects.toThrow(
      'the archives of user greedy take 2 MiB of the 2 MiB that one creator may have of 3 MiB (--max-archive-bytes), and this one needs 1 MiB: ',
    );
    await put(store, 'other-1', 2);
  });

  test('that were stored before are stored again, as far as there is room', async () => {
    const { store } = aStore(true);
    for (const number of [1, 2, 3, 4]) await put(store, `greedy-${number}`, 2);
    await expect(put(store, 'greedy-5', 2)).rejects.toThrow('the archives of all Bundles take');
  });
});
