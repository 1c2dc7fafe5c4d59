import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../core/registry/index.ts';
import { FakeRegistry } from '../../test/helpers/fake-registry.ts';
import { buildCatalogImage, configsLabel } from '../images/index.ts';
import type { FollowOptions } from './catalog-follower.ts';
import { CatalogFollower, ContentCache, type ServedCatalog } from './index.ts';
import type { BorrowedContent } from './served-catalog.ts';

const { signal } = new AbortController();
const access = new RegistryAccess({
  insecureRegistries: [],
  caCertificates: [],
  keychain: emptyKeychain,
  clock: systemClock,
});
let directory: string;
let events: string[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalog-follower-'));
  await mkdir(join(directory, 'catalog'));
  events = [];
});
afterEach(() => rm(directory, { recursive: true }));

async function write(content: string): Promise<void> {
  await writeFile(join(directory, 'catalog/catalog.json'), content);
}

async function following(
  place: string,
  options: Partial<FollowOptions> = {},
): Promise<CatalogFollower> {
  return await CatalogFollower.open(
    { name: 'shop', place },
    {
      registry: async () => access,
      ...options,
      signal,
      cache: new ContentCache(join(directory, 'cache')),
      onReplaced: ({ name }) => void events.push(`${name} replaced`),
      onFailure: ({ name }, error) => void events.push(`${name}: ${(error as Error).message}`),
    },
  );
}

async function served(catalog: ServedCatalog): Promise<string> {
  await using borrowed = catalog.borrow();
  return await textOf(borrowed.content);
}

async function textOf({ blobs }: BorrowedContent['content']): Promise<string> {
  const buffer = Buffer.alloc(blobs.size);
  await blobs.readInto(buffer, blobs.index.ranges({}));
  return buffer.toString();
}

async function looks(follower: CatalogFollower, count: number): Promise<void> {
  for (let look = 0; look < count; look += 1) await follower.look();
}

const [first, second] = ['{"schema":"first"}\n', '{"schema":"the-second"}\n'];

test('an image of a registry that sends a byte now and then has its time, and is tried again', async () => {
  const registry = await FakeRegistry.start();
  onTestFinished(() => registry.stop());
  const files = { 'configs/a.json': first ?? '' };
  const config = registry.addBlob(
    Buffer.from(JSON.stringify({ config: { Labels: { [configsLabel]: '/configs' } } })),
    'application/vnd.oci.image.config.v1+json',
  );
  await registry.addImage('v1', [{ files }], (manifest) => ({ ...manifest, config }));
  const slow = new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
  const place = `${registry.host}/shop:v1`;
  const follower = await following(place, { registry: async () => slow, timeout: 300 });
  registry.intercept = (_, response) => {
    response.writeHead(200, { 'content-length': 1000 });
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
    return true;
  };
  await looks(follower, 1);
  expect(events).toEqual(['shop: not read within the limit of 0.3 s']);
  expect(await served(follower.catalog)).toBe(first);
  await follower.catalog.close();
});

describe('a catalog that is followed', () => {
  test('is served as it becomes, once it has settled', async () => {
    await write(first);
    const follower = await following(join(directory, 'catalog'));
    await looks(follower, 3);
    await write(second);
    await looks(follower, 1);
    expect(await served(follower.catalog)).toBe(first);
    await looks(follower, 3);
    expect(await served(follower.catalog)).toBe(second);
    expect(events).toEqual(['shop replaced']);
    await follower.catalog.close();
  });

  test('stays what it was while it is broken, and says so once', async () => {
    await write(first);
    const follower = await following(join(directory, 'catalog'));
    await write('{"schema":"olm.package","name":"a","defaultChannel":"s"}');
    await looks(follower, 5);
    expect(await served(follower.catalog)).toBe(first);
    expect(events).toEqual([expect.stringContaining('shop: build package index')]);
    await write(second);
    await looks(follower, 3);
    expect(await served(follower.catalog)).toBe(second);
    await follower.catalog.close();
  });

  test('names the file and the line of a blob that cannot be read', async () => {
    await write(first);
    const follower = await following(join(directory, 'catalog'));
    await write(`${first}{"b":1}\n`);
    await looks(follower, 3);
    expect(events).toEqual([
      `shop: catalog.json:2: object '{"b":1}\n' is missing root schema field`,
    ]);
    await follower.catalog.close();
  });

  test('stays what it was while it is gone, and follows another directory of its name', async () => {
    await write(first);
    const follower = await following(join(directory, 'catalog'));
    await rename(join(directory, 'catalog'), join(directory, 'former'));
    await looks(follower, 3);
    expect(await served(follower.catalog)).toBe(first);
    expect(events).toHaveLength(1);
    await mkdir(join(directory, 'catalog'));
    await write(second);
    await looks(follower, 3);
    expect(await served(follower.catalog)).toBe(second);
    expect(events.at(-1)).toBe('shop replaced');
    await follower.catalog.close();
  });

  test('reports the same problem again after a recovery', async () => {
    await write(first);
    const follower = await following(join(directory, 'catalog'));
    for (const outage of [1, 2]) {
      await rename(join(directory, 'catalog'), join(directory, 'away'));
      await looks(follower, 2);
      expect(events).toHaveLength(outage);
      await rename(join(directory, 'away'), join(directory, 'catalog'));
      await looks(follower, 2);
    }
    expect(new Set(events).size).toBe(1);
    await follower.catalog.close();
  });

  test('keeps a reader of the former content to its end', async () => {
    await write(first);
    const follower = await following(join(directory, 'catalog'));
    await using former = follower.catalog.borrow();
    await write(second);
    await looks(follower, 3);
    expect(await served(follower.catalog)).toBe(second);
    expect(await textOf(former.content)).toBe(first);
    await follower.catalog.close();
  });

  test('is the image behind a tag', async () => {
    const place = `oci:${join(directory, 'layout')}:v1`;
    await write(first);
    await push(place);
    const follower = await following(place);
    await looks(follower, 2);
    await write(second);
    await push(place);
    await looks(follower, 2);
    expect(await served(follower.catalog)).toBe(second);
    expect(events).toEqual(['shop replaced']);
    await follower.catalog.close();
  });
});

async function push(place: string): Promise<void> {
  const image = await buildCatalogImage(join(directory, 'catalog'), { signal });
  const { target, tag } = await access.openTarget(place);
  await image.push(target, tag, signal);
  await image.close();
  await target.close();
}

test('what is kept is taken at the next start', async () => {
  await write(first);
  const cache = new ContentCache(join(directory, 'cache'));
  let builds = 0;
  const options = { signal, onBuild: () => void (builds += 1) };
  await (await cache.open(join(directory, 'catalog'), options))[Symbol.asyncDispose]();
  const again = await cache.open(join(directory, 'catalog'), options);
  expect([builds, again.blobs.index.blobs]).toEqual([1, 1]);
  // Whoever runs an image reads what was built with it.
  expect((await stat(join(directory, 'cache/rukpak.v1'))).mode & 0o777).toBe(0o775);
  await again[Symbol.asyncDispose]();
  await writeFile(join(directory, 'cache/rukpak.v1/index.json'), '{}');
  await (await cache.open(join(directory, 'catalog'), options))[Symbol.asyncDispose]();
  expect(builds).toBe(2);
});

test('what a killed build has left is removed at the next start; a build that runs goes on', async () => {
  await write(first);
  const [cache, dayAgo] = [join(directory, 'cache'), new Date(Date.now() - 25 * 3_600_000)];
  for (const [name, time] of [
    ['rukpak.v1.new-killed', dayAgo],
    ['rukpak.v1.new-runs', new Date()],
    ['pogreb.v1', dayAgo],
  ] as const) {
    await mkdir(join(cache, name), { recursive: true });
    await utimes(join(cache, name), time, time);
  }
  const content = await new ContentCache(cache).open(join(directory, 'catalog'), { signal });
  await content[Symbol.asyncDispose]();
  expect((await readdir(cache)).toSorted()).toEqual([
    'pogreb.v1',
    'rukpak.v1',
    'rukpak.v1.new-runs',
  ]);
});
