import { execFile } from 'node:child_process';
import {
  access as fileAccess,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CarriedPlaces, carriedNames } from '../../test/helpers/carried-places.ts';
import { pushBlob, pushImage, pushIndex, pushManifest } from '../../test/helpers/push-image.ts';
import type { UploadRegistry } from '../../test/helpers/upload-registry.ts';
import { readEarlierRecord } from './carried-record.ts';
import type { CarryOptions } from './carry.ts';

let places: CarriedPlaces;
let source: UploadRegistry;
let mirror: UploadRegistry;
let dir: string;

beforeEach(async () => {
  places = await CarriedPlaces.start();
  ({ source, mirror, dir } = places);
  for (const name of ['one', 'two']) await pushApp(name, name);
});

afterEach(() => places.stop());

/** An image with a signature under cosign's tag. */
async function pushApp(repository: string, text: string, tag = 'v1'): Promise<string> {
  const to = { registry: source.host, repository, tag };
  const { digest } = await pushImage({ ...to, layers: [{ files: { a: text } }] });
  const signature = { ...to, tag: `${digest.replace(':', '-')}.sig` };
  const mediaType = 'application/vnd.oci.image.config.v1+json';
  const config = await pushBlob(signature, { bytes: Buffer.from(`{"a":"${text}"}`), mediaType });
  const manifest = { schemaVersion: 2, config, layers: [] };
  const type = 'application/vnd.oci.image.manifest.v1+json';
  await pushManifest(signature, { ...manifest, mediaType: type });
  return digest;
}

const fill: CarriedPlaces['fill'] = (...run) => places.fill(...run);
const push: CarriedPlaces['push'] = (...run) => places.push(...run);
const isThere = async (path: string): Promise<boolean> =>
  await fileAccess(path).then(
    () => true,
    () => false,
  );

describe.each(['carried', 'carried.tar'])('%s that several runs have filled', (name) => {
  test('has the images of all of them, with their signatures', async () => {
    await fill(name, ['one:v1']);
    expect(carriedNames(await fill(name, ['two:v1']))).toEqual(['two:v1']);
    expect(places.notes).toEqual([
      `note: ${join(dir, name)} still has 1 image of earlier runs, which --from pushes too; name a new directory or tar to leave it out`,
    ]);
    const pushed = await push(name);
    expect([...pushed.failures]).toEqual([]);
    expect(carriedNames(pushed)).toEqual(['one:v1', 'two:v1']);
    for (const { path, digest } of pushed.images) {
      expect(mirror.manifests.has(`${path}:v1`)).toBe(true);
      expect(mirror.manifests.has(`${path}:${digest.replace(':', '-')}.sig`)).toBe(true);
    }
  });

  test('has them too where the second run is broken off, and where an image fails', async () => {
    await fill(name, ['one:v1']);
    const controller = new AbortController();
    const onEvent: CarryOptions['onEvent'] = ({ kind }) => {
      if (kind === 'copied') controller.abort(new Error('interrupted'));
    };
    const { signal } = controller;
    const interrupted = fill(name, ['one:v1', 'two:v1'], { onEvent, signal });
    await expect(interrupted).rejects.toThrow('interrupted');
    source.manifests.delete('one:v1');
    const resumed = await fill(name, ['one:v1', 'two:v1']);
    expect([...resumed.failures.keys()]).toEqual([`${source.host}/one:v1`]);
    expect(carriedNames(await push(name))).toEqual(['one:v1', 'two:v1']);
  });

  test('has the image that a tag has now, and says of no other content that it is carried', async () => {
    await fill(name, ['one:v1', 'two:v1']);
    const [before] = (await readEarlierRecord(join(dir, name), places.options())).images;
    const digest = await pushApp('one', 'changed');
    const { record } = await fill(name, ['one:v1']);
    expect(record.images.map((image) => `${image.path}@${image.digest}`)).toEqual([
      `one@${digest}`,
      expect.stringMatching(/^two@/),
    ]);
    expect(record.content.get('one')?.has(before?.digest ?? '')).toBe(false);
    expect(record.content.get('two')?.size).toBe(5);
    expect(carriedNames(await push(name))).toEqual(['one:v1', 'two:v1']);
  });

  test('has what it had before a run with --since of itself', async () => {
    await fill(name, ['one:v1']);
    await fill(name, ['one:v1', 'two:v1'], { since: join(dir, name) });
    const pushed = await push(name);
    expect([...pushed.failures]).toEqual([]);
    expect(carriedNames(pushed)).toEqual(['one:v1', 'two:v1']);
  });

  test('still goes on from what was carried before', async () => {
    await fill(`first-${name}`, ['one:v1']);
    await fill(name, ['one:v1', 'two:v1'], { since: join(dir, `first-${name}`) });
    const { record } = await fill(name, ['two:v1']);
    expect(record.images.map(({ path, isEarlier }) => [path, isEarlier])).toEqual([
      ['one', true],
      ['two', undefined],
    ]);
    expect([...(await push(name)).failures.values()]).toEqual([
      expect.stringContaining('it was carried before'),
    ]);
    expect(carriedNames(await push(`first-${name}`))).toEqual(['one:v1']);
    expect(carriedNames(await push(name))).toEqual(['one:v1', 'two:v1']);
    const [image] = (await fill(name, ['one:v1'])).record.images;
    expect(image?.isEarlier).toBe(undefined);
  });

  test('has the one platform of an image that an earlier run has copied', async () => {
    const to = { registry: source.host, repository: 'both' };
    const layers = [{ files: { a: 'both' } }];
    const amd64 = await pushImage({ ...to, tag: 'amd64', layers });
    const arm64 = await pushImage({ ...to, tag: 'arm64', layers, architecture: 'arm64' });
    await pushIndex({ ...to, tag: 'v1', manifests: [amd64, arm64] });
    const platform = { os: 'linux', architecture: 'amd64' };
    await fill(name, ['both:v1'], { platform });
    const { record } = await fill(name, ['one:v1']);
    expect(record.images.map(({ path }) => path)).toEqual(['both', 'one']);
    expect(record.content.get('both')?.has(amd64.digest)).toBe(true);
    expect(record.content.get('both')?.has(arm64.digest)).toBe(false);
    const pushed = await push(name);
    expect([...pushed.failures]).toEqual([]);
    expect(carriedNames(pushed)).toEqual(['both:v1', 'one:v1']);
    expect(mirror.manifests.has(`both:${amd64.digest}`)).toBe(true);
    expect(carriedNames(await push(name, { platform }))).toEqual(['both:v1', 'one:v1']);
  });
});

describe('a directory', () => {
  test('that has lost a platform of an image is not pushed without it', async () => {
    const to = { registry: source.host, repository: 'both' };
    const layers = [{ files: { a: 'both' } }];
    const amd64 = await pushImage({ ...to, tag: 'amd64', layers });
    const arm64 = await pushImage({ ...to, tag: 'arm64', layers, architecture: 'arm64' });
    await pushIndex({ ...to, tag: 'v1', manifests: [amd64, arm64] });
    await fill('carried', ['both:v1', 'one:v1']);
    await rm(join(dir, 'carried/blobs', arm64.digest.replace(':', '/')));
    const pushed = await push('carried');
    expect([...pushed.failures.values()]).toEqual([expect.stringContaining(arm64.digest)]);
    expect(carriedNames(pushed)).toEqual(['one:v1']);
  });

  test('keeps partial files of others', async () => {
    const root = join(dir, 'carried');
    await fill('carried', ['one:v1']);
    const digest = 'ab'.repeat(32);
    const uuid = '0b9bf1e8-2d06-4a4c-9d8c-9e2f8f0c0a11';
    const kept = ['disk.img.partial', 'blobs/sha256/notes.partial', `old/x.${uuid}.partial`];
    const ours = [`blobs/sha256/${digest}.${uuid}.partial`, `.index.json.${uuid}.partial`];
    await mkdir(join(root, 'old'));
    for (const path of [...kept, ...ours]) await writeFile(join(root, path), 'something');
    await fill('carried', ['one:v1']);
    for (const path of kept) expect(await isThere(join(root, path)), path).toBe(true);
    for (const path of ours) expect(await isThere(join(root, path)), path).toBe(false);
  });

  test('that is not empty, and no layout, is refused and stays as it is', async () => {
    await writeFile(join(dir, 'disk.img.partial'), 'something');
    await expect(fill('.', ['one:v1'])).rejects.toThrow(
      `${join(dir, '.')} is not empty, and no OCI layout, as it has no file oci-layout: name another directory`,
    );
    expect(await readdir(dir)).toEqual(['disk.img.partial']);
  });

  test.each([
    ['empty', ''],
    ['begun', '{"imageLayoutVersion":"1.0.0"}\n'],
  ])('whose first file is %s is gone on with', async (_state, text) => {
    await mkdir(join(dir, 'carried'));
    await writeFile(join(dir, 'carried/oci-layout'), text);
    await fill('carried', ['one:v1']);
    expect(carriedNames(await push('carried'))).toEqual(['one:v1']);
  });
});

describe('a tar', () => {
  const refused = (name: string) =>
    `cannot write on ${join(dir, name)}: no earlier run has written it; name another file`;

  /** Fills a tar on top of a file, which stays as it is. */
  async function refuses(name: string, problem: string): Promise<void> {
    const before = await Promise.all((await readdir(dir)).map(contentOf));
    await expect(fill('carried.tar', ['one:v1'])).rejects.toThrow(problem);
    const after = await Promise.all((await readdir(dir)).map(contentOf));
    expect(after).toEqual(before);
    expect(after.map(([file]) => file)).toContain(name);
  }

  async function contentOf(name: string): Promise<readonly [name: string, content: string]> {
    const path = join(dir, name);
    return [name, (await stat(path)).isFile() ? await readFile(path, 'hex') : ''];
  }

  async function tarOf(layout: string, file: string): Promise<void> {
    const from = ['-C', join(dir, layout)];
    // As skopeo and podman write it: in the order of the names.
    const paths = ['blobs', 'index.json', 'oci-layout'];
    await promisify(execFile)('tar', ['-cf', join(dir, file), ...from, ...paths]);
  }

  test.each(['carried.tar', 'carried.tar.partial'])(
    'of another tool, as %s, is refused and stays as it is',
    { tags: 'process' },
    async (file) => {
      await fill('layout', ['two:v1']);
      await tarOf('layout', file);
      await refuses(file, refused(file));
    },
  );

  test('of another command is refused and stays as it is', async () => {
    const { target } = await places
      .options()
      .access.openTarget(`oci-archive:${join(dir, 'carried.tar')}`);
    await target.close();
    await refuses('carried.tar', refused('carried.tar'));
  });

  test('to which somebody has added a file is refused and stays as it is', {
    tags: 'process',
  }, async () => {
    await fill('carried.tar', ['two:v1']);
    await writeFile(join(dir, 'notes.txt'), 'notes');
    await promisify(execFile)('tar', ['-C', dir, '-rf', join(dir, 'carried.tar'), 'notes.txt']);
    await refuses(
      'carried.tar',
      `cannot write on ${join(dir, 'carried.tar')}: it has "notes.txt", which no run writes; name another file`,
    );
  });

  test.each(['carried.tar', 'carried.tar.partial'])(
    'that is no tar, as %s, stays as it is',
    async (file) => {
      await writeFile(join(dir, file), 'something else');
      await refuses(file, refused(file));
    },
  );

  test('beside what an interrupted run has left is refused and stays as it is', async () => {
    await fill('carried.tar', ['one:v1']);
    await rename(join(dir, 'carried.tar'), join(dir, 'carried.tar.partial'));
    await fill('other.tar', ['two:v1']);
    await rename(join(dir, 'other.tar'), join(dir, 'carried.tar'));
    await refuses(
      'carried.tar',
      `cannot write on ${join(dir, 'carried.tar')}: ${join(dir, 'carried.tar.partial')} of an interrupted run is beside it; name another file`,
    );
  });

  test('does not grow where nothing is new', async () => {
    await fill('carried.tar', ['one:v1']);
    const { size } = await stat(join(dir, 'carried.tar'));
    await fill('carried.tar', ['one:v1']);
    expect((await stat(join(dir, 'carried.tar'))).size).toBe(size);
  });
});
