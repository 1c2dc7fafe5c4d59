import files, { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ContentCache, StaleCacheError } from './index.ts';
import { ServedContent } from './served-content.ts';

const { signal } = new AbortController();
const catalogs = { mine: '{"schema":"mine"}\n', theirs: '{"schema":"of-others"}\n' };
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'content-cache-'));
  for (const [name, text] of Object.entries(catalogs)) {
    await mkdir(join(directory, name));
    await writeFile(join(directory, name, 'catalog.json'), text);
  }
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

async function build(name: keyof typeof catalogs, cache = 'cache'): Promise<string> {
  await using content = await new ContentCache(join(directory, cache)).open(join(directory, name), {
    signal,
  });
  return await textOf(content);
}

async function textOf({ blobs }: ServedContent): Promise<string> {
  const buffer = Buffer.alloc(blobs.size);
  await blobs.readInto(buffer, blobs.index.ranges({}));
  return buffer.toString();
}

describe('a server of another catalog with the same cache', () => {
  /** Puts content of its own into the cache when the next content is opened. */
  async function replacesBeforeNextOpen(): Promise<void> {
    await build('theirs', 'other');
    const open = ServedContent.open.bind(ServedContent);
    vi.spyOn(ServedContent, 'open').mockImplementationOnce(async (path) => {
      await rm(join(directory, 'cache/rukpak.v1'), { recursive: true, force: true });
      await rename(join(directory, 'other/rukpak.v1'), join(directory, 'cache/rukpak.v1'));
      return await open(path);
    });
  }

  test('takes no part in what is served of a new catalog', async () => {
    await replacesBeforeNextOpen();
    expect(await build('mine')).toBe(catalogs.mine);
  });

  test('takes no part in what is served of a cached one', async () => {
    await build('mine');
    await replacesBeforeNextOpen();
    expect(await build('mine')).toBe(catalogs.mine);
  });

  test('makes a cache stale that must be intact', async () => {
    await build('mine');
    await replacesBeforeNextOpen();
    const cache = new ContentCache(join(directory, 'cache'));
    await expect(cache.openIntact(join(directory, 'mine'), signal)).rejects.toThrow(
      StaleCacheError,
    );
  });

  test('keeps all of what it puts there while the former content is removed', async () => {
    await build('mine');
    await build('theirs', 'other');
    await writeFile(join(directory, 'mine', 'more.json'), catalogs.mine);
    const place = join(directory, 'cache/rukpak.v1');
    const whole = (await readdir(join(directory, 'other/rukpak.v1'))).toSorted();
    const { rm: remove } = files;
    let left: readonly string[] | undefined;
    // Puts its content there when the former content is about to be removed.
    files.rm = async (...[path, options]: Parameters<typeof remove>) => {
      const isOfCache = typeof path === 'string' && path.startsWith(place);
      if (left !== undefined || !isOfCache) return await remove(path, options);
      left = [];
      await rename(place, join(directory, 'replaced')).catch(() => undefined);
      await rename(join(directory, 'other/rukpak.v1'), place);
      await remove(path, options);
      left = await readdir(place).catch((): string[] => []);
    };
    syncBuiltinESMExports();
    onTestFinished(() => {
      files.rm = remove;
      syncBuiltinESMExports();
    });
    expect(await build('mine')).toBe(catalogs.mine.repeat(2));
    expect(left?.toSorted()).toEqual(whole);
  });

  test('starts at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const names = ['mine', 'theirs', 'mine', 'theirs'] as const;
      const served = await Promise.all(names.map((name) => build(name)));
      expect(served).toEqual(names.map((name) => catalogs[name]));
    }
  });
});
