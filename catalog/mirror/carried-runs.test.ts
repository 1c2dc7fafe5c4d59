import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CarriedPlaces, carriedNames } from '../../test/helpers/carried-places.ts';
import {
  type PushedImage,
  pushBlob,
  pushImage,
  pushManifest,
} from '../../test/helpers/push-image.ts';
import type { CarryResult } from './index.ts';

let places: CarriedPlaces;

beforeEach(async () => {
  places = await CarriedPlaces.start();
  for (const name of ['one', 'two']) await pushApp(name);
});

afterEach(() => places.stop());

/** An image whose lowest layer all of them share. */
async function pushApp(repository: string): Promise<PushedImage> {
  const to = { registry: places.source.host, repository, tag: 'v1' };
  const layers = [{ files: { base: 'base' } }, { files: { a: repository } }];
  return await pushImage({ ...to, layers });
}

/** The same with a signature, whose digest is returned. */
async function pushSigned(repository: string): Promise<string> {
  const { platform: _, ...subject } = await pushApp(repository);
  const to = { registry: places.source.host, repository, tag: 'signature' };
  const empty = { bytes: Buffer.from('{}'), mediaType: 'application/vnd.oci.empty.v1+json' };
  const about = { artifactType: 'application/x.signature', config: await pushBlob(to, empty) };
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = { schemaVersion: 2, mediaType, ...about, layers: [], subject };
  return (await pushManifest(to, manifest)).digest;
}

describe.each(['carried', 'carried.tar'])('%s that was filled with --since', (name) => {
  beforeEach(async () => {
    await places.fill(`first-${name}`, ['one:v1']);
    await places.fill(name, ['two:v1'], { since: join(places.dir, `first-${name}`) });
  });

  test('lacks what was carried before', async () => {
    expect([...(await places.push(name)).failures.values()]).toEqual([
      expect.stringContaining('push the earlier directory or tar first'),
    ]);
  });

  test('is pushed to a registry that mounts no blobs', async () => {
    const { mirror } = places;
    expect([...(await places.push(`first-${name}`)).failures]).toEqual([]);
    const earlier = new Set(mirror.blobs.keys());
    mirror.lacks = (repository, digest) => repository === 'two' && earlier.has(digest);
    const pushed = await places.push(name);
    expect([...pushed.failures]).toEqual([]);
    expect(carriedNames(pushed)).toEqual(['two:v1']);
  });

  test('is not pushed where the layers of others may not be read, and the registry is quoted', async () => {
    const { mirror } = places;
    await places.push(`first-${name}`);
    mirror.lacks = (repository) => repository === 'two';
    mirror.denies = ({ url }) => (url?.startsWith('/v2/one/blobs/') === true ? 403 : undefined);
    expect([...(await places.push(name)).failures.values()]).toEqual([
      expect.stringContaining(
        'denies access to repository one without credentials (403 Forbidden)',
      ),
    ]);
  });

  test('gets it by a run without --since', async () => {
    expect(carriedNames(await places.fill(name, ['two:v1']))).toEqual(['two:v1']);
    const pushed = await places.push(name);
    expect([...pushed.failures]).toEqual([]);
    expect(carriedNames(pushed)).toEqual(['two:v1']);
  });
});

test.each([
  ['emptied', 0],
  ['filled with zeros', 1],
])('a manifest that a power loss has %s is fetched again', async (_state, share) => {
  const { images } = (await places.fill('carried', ['one:v1'])).record;
  const path = join(places.dir, 'carried/blobs', (images[0]?.digest ?? '').replace(':', '/'));
  const { size } = await stat(path);
  await writeFile(path, Buffer.alloc(size * share));
  await places.fill('carried', ['one:v1']);
  expect([...(await places.push('carried')).failures]).toEqual([]);
});

test.each(['carried', 'carried.tar'])(
  'of two runs at once into %s, one is refused',
  async (name) => {
    const runs = await Promise.allSettled([
      places.fill(name, ['one:v1']),
      places.fill(name, ['two:v1']),
    ]);
    const [refused, ...more] = runs.filter(({ status }) => status === 'rejected');
    expect(more).toEqual([]);
    expect(String((refused as PromiseRejectedResult | undefined)?.reason)).toContain(
      `cannot write ${join(places.dir, name)}: process ${process.pid} has been writing it since `,
    );
    expect([...(await places.push(name)).failures]).toEqual([]);
  },
);

describe('a damaged manifest of a directory', () => {
  const damage = async (digest: string) =>
    await writeFile(join(places.dir, 'carried/blobs', digest.replace(':', '/')), 'damaged');

  test('fails its own image alone', async () => {
    const { images } = (await places.fill('carried', ['one:v1', 'two:v1'])).record;
    await damage(images[0]?.digest ?? '');
    const pushed = await places.push('carried');
    expect([...pushed.failures]).toEqual([
      [`${places.source.host}/one:v1`, expect.stringContaining('has the digest')],
    ]);
    expect(carriedNames(pushed)).toEqual(['two:v1']);
  });

  test('of a signature fails the images of its repository: none goes without it', async () => {
    const digest = await pushSigned('one');
    await places.fill('carried', ['one:v1', 'two:v1']);
    await damage(digest);
    const pushed = await places.push('carried');
    expect([...pushed.failures]).toEqual([
      [`${places.source.host}/one:v1`, expect.stringContaining(digest)],
    ]);
    expect(carriedNames(pushed)).toEqual(['two:v1']);
  });
});

test('a damaged blob of a directory is not blamed on the registry, and the way to repair it works', async () => {
  const { layers } = JSON.parse(await manifestText(await places.fill('carried', ['one:v1']))) as {
    readonly layers: readonly { readonly digest: string }[];
  };
  const digest = layers[1]?.digest ?? '';
  const file = join(places.dir, 'carried/blobs', digest.replace(':', '/'));
  await writeFile(file, Buffer.alloc((await stat(file)).size));
  for (const run of ['first', 'second']) {
    expect([...(await places.push('carried')).failures.values()], run).toEqual([
      expect.stringMatching(
        /^oci:\S+carried: blob sha256:\S+ has the digest \S+; the directory is damaged: delete the file of this blob in its folder blobs, fill it once more, and carry it$/,
      ),
    ]);
  }
  await rm(file);
  await places.fill('carried', ['one:v1']);
  expect([...(await places.push('carried')).failures]).toEqual([]);
});

async function manifestText({ record }: CarryResult): Promise<string> {
  const digest = record.images[0]?.digest ?? '';
  return await readFile(join(places.dir, 'carried/blobs', digest.replace(':', '/')), 'utf8');
}
