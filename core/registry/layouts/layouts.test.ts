import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import type { ImageTarget } from '../configuration/place.ts';
import { copyImage, emptyKeychain, RegistryAccess, referrersOf } from '../index.ts';
import { mediaTypes } from '../media-types.ts';
import { digestOf } from '../reference.ts';

const { signal } = new AbortController();
const access = new RegistryAccess({
  insecureRegistries: [],
  caCertificates: [],
  keychain: emptyKeychain,
  clock: systemClock,
});
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'layouts-'));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(dir, { recursive: true });
});

/** An image of one layer; its manifest's digest. */
async function pushTo(target: ImageTarget, tag: string | undefined, text = 'layer') {
  const parts = [
    { mediaType: mediaTypes.ociConfig, bytes: Buffer.from('{}') },
    { mediaType: mediaTypes.ociLayer, bytes: Buffer.from(text) },
  ];
  const descriptors = parts.map(({ mediaType, bytes }) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.byteLength,
  }));
  for (const [index, descriptor] of descriptors.entries()) {
    await target.pushBlob({ descriptor, open: () => [parts[index]?.bytes ?? Buffer.of()] }, signal);
  }
  const [config, ...layers] = descriptors;
  const mediaType = mediaTypes.ociManifest;
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers }));
  return await target.pushManifest({ bytes, mediaType, tag }, signal);
}

describe.each([
  ['directory', 'oci:'],
  ['archive', 'oci-archive:'],
])('an OCI layout that is a %s', (kind, prefix) => {
  const place = (name: string) => `${prefix}${join(dir, name)}`;

  it('has what was pushed, by tag and digest', async () => {
    const { target } = await access.openTarget(place('a.tar'));
    const first = await pushTo(target, 'v1');
    const second = await pushTo(target, 'v2', 'other');
    await target.tag(first.digest, 'latest', signal);
    await target.close();
    for (const reference of [':v1', ':latest', `@${first.digest}`]) {
      const { place: opened, manifest } = await access.open(place('a.tar') + reference, signal);
      expect(manifest.digest).toBe(first.digest);
      expect(await opened.findDigest('v2', signal)).toBe(second.digest);
      await opened.close();
    }
    await expect(access.open(place('a.tar'), signal)).rejects.toThrow(
      'has several images; it has "v1", "v2", "latest"',
    );
    await expect(access.open(`${place('a.tar')}:v3`, signal)).rejects.toThrow(
      'has no "v3"; it has "v1", "v2", "latest"',
    );
  });

  it('is copied with the same digests, by a path that names what it is', async () => {
    const { target } = await access.openTarget(place('a.tar'));
    const { digest } = await pushTo(target, undefined);
    await target.close();
    const from = await access.open(join(dir, 'a.tar'), signal);
    const to = await access.openTarget(`oci-archive:${join(dir, 'b.tar')}:copy`);
    await copyImage({ ...from, target: to.target, tag: to.tag, signal });
    await to.target.close();
    await from.place.close();
    const copy = await access.open(`oci-archive:${join(dir, 'b.tar')}:copy`, signal);
    expect(copy.manifest.digest).toBe(digest);
    await copy.place.close();
  });

  it('refuses content that is not what it should be, and goes on without it', async () => {
    const { target } = await access.openTarget(place('a.tar'));
    const digest = digestOf(Buffer.from('right'));
    const wrong = { descriptor: { digest, size: 5 }, open: () => [Buffer.from('wrong')] };
    await expect(target.pushBlob(wrong, signal)).rejects.toThrow(`blob ${digest} has the digest`);
    expect(await target.hasBlob(wrong.descriptor, signal)).toBe(false);
    await pushTo(target, 'v1');
    await target.close();
    const opened = await access.open(`${place('a.tar')}:v1`, signal);
    expect(await opened.place.findDigest(digest, signal)).toBeUndefined();
    await opened.place.close();
  });

  it('finds referrers by their subject', async () => {
    const { target } = await access.openTarget(place('a.tar'));
    const subject = await pushTo(target, 'v1');
    const document = { schemaVersion: 2, mediaType: mediaTypes.ociManifest, subject };
    const bytes = Buffer.from(JSON.stringify({ ...document, artifactType: 'a/b', layers: [] }));
    await target.pushManifest({ bytes, mediaType: mediaTypes.ociManifest }, signal);
    await target.close();
    const { place: opened } = await access.open(`${place('a.tar')}:v1`, signal);
    const found = await referrersOf(opened, subject.digest, { signal });
    expect(found.map(({ artifactType }) => artifactType)).toEqual(['a/b']);
    await opened.close();
  });

  it('is not made where it is given up', async () => {
    const { target } = await access.openTarget(place('given-up.tar'));
    await pushTo(target, 'v1');
    await target.discard();
    const names = await readdir(dir);
    expect(names).toEqual(kind === 'archive' ? [] : ['given-up.tar']);
  });
});

describe('a digest', () => {
  it('is that of the image, whatever name a layout gives to another one', async () => {
    const { target } = await access.openTarget(`oci:${dir}`);
    const wanted = await pushTo(target, 'v1');
    const other = await pushTo(target, 'v2', 'other');
    await target.close();
    const name = { 'org.opencontainers.image.ref.name': wanted.digest };
    const manifests = [{ ...other, annotations: name }];
    await writeFile(join(dir, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
    const { manifest } = await access.open(`oci:${dir}@${wanted.digest}`, signal);
    expect(manifest.digest).toBe(wanted.digest);
    expect((await access.open(`oci:${dir}`, signal)).manifest.digest).toBe(other.digest);
  });

  it.each(['oci:', 'oci-archive:', ''])('is no tag to push to (%s)', async (transport) => {
    const path = transport === '' ? 'registry.example/app' : join(dir, 'new');
    const place = `${transport}${path}@${digestOf(Buffer.from('x'))}`;
    await expect(access.openTarget(place)).rejects.toThrow(
      `${place} names a digest, which an image gets from its content: name a tag`,
    );
    expect(await readdir(dir)).toEqual([]);
  });
});

describe('an archive', () => {
  it('has the same bytes for the same content, as tar reads them', async () => {
    const bytes: Buffer[] = [];
    for (const name of ['a.tar', 'b.tar']) {
      const { target } = await access.openTarget(`oci-archive:${join(dir, name)}`);
      await pushTo(target, 'v1');
      await target.close();
      bytes.push(await readFile(join(dir, name)));
    }
    expect(bytes[0]?.equals(bytes[1] ?? Buffer.of())).toBe(true);
  });

  it.each([
    [
      'is compressed',
      Buffer.from([0x1f, 0x8b, 8, 0]),
      'is compressed: unpack it with gunzip first',
    ],
    ['is cut', Buffer.alloc(700, 1), 'archive/tar: invalid tar header'],
    ['is empty', Buffer.of(), 'is no OCI layout: it has no file oci-layout'],
  ])('that %s is refused', async (_case, bytes, problem) => {
    await writeFile(join(dir, 'x.tar'), bytes);
    await expect(access.open(`oci-archive:${join(dir, 'x.tar')}`, signal)).rejects.toThrow(problem);
  });
});

describe('a directory', () => {
  it('with a changed blob or index is refused', async () => {
    const { target } = await access.openTarget(`oci:${dir}`);
    const { digest } = await pushTo(target, 'v1');
    await target.close();
    const file = join(dir, 'blobs', digest.replace(':', '/'));
    const { size } = await stat(file);
    await writeFile(file, 'x'.repeat(size));
    await expect(access.open(`oci:${dir}:v1`, signal)).rejects.toThrow(
      `manifest ${digest} has the digest`,
    );
    await writeFile(join(dir, 'index.json'), '{"manifests": 1}');
    await expect(access.open(dir, signal)).rejects.toThrow('is no OCI layout: the manifest is not');
  });
});

describe('a directory that is written', () => {
  it('is gone on with, and has what several pushes at the same time brought', async () => {
    const tags = Array.from({ length: 20 }, (_each, index) => `v${index}`);
    const first = await access.openTarget(`oci:${dir}`);
    await Promise.all(tags.slice(0, 10).map((tag) => pushTo(first.target, tag, tag)));
    await first.target.close();
    const second = await access.openTarget(`oci:${dir}`);
    await Promise.all(tags.slice(10).map((tag) => pushTo(second.target, tag, tag)));
    await second.target.close();
    const { place } = await access.open(`oci:${dir}:v0`, signal);
    const digests = await Promise.all(tags.map((tag) => place.findDigest(tag, signal)));
    expect(new Set(digests).size).toBe(20);
    expect(digests).not.toContain(undefined);
  });

  // A file over the limit of its process is written in part, as on a disk that is full.
  it('has no blob of which the disk took only a part', { tags: 'process' }, async () => {
    const script = `
      import { systemClock } from './core/platform/clock.ts';
      import { emptyKeychain, RegistryAccess } from './core/registry/index.ts';
      import { digestOf } from './core/registry/reference.ts';
      const access = new RegistryAccess({ insecureRegistries: [], caCertificates: [], keychain: emptyKeychain, clock: systemClock });
      const { target } = await access.openTarget(process.argv[1]);
      const bytes = Buffer.alloc(5_000);
      const descriptor = { mediaType: 'application/octet-stream', digest: digestOf(bytes), size: bytes.length };
      await target.pushBlob({ descriptor, open: () => [bytes] }, new AbortController().signal).catch(({ code }) => console.log(code));
    `;
    const { NODE_COMPILE_CACHE: _, ...env } = process.env;
    const limited = 'ulimit -f 4; trap "" XFSZ; exec "$0" --input-type=module -e "$@"';
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-c', limited, process.execPath, script, `oci:${join(dir, 'full')}`],
      { cwd: join(import.meta.dirname, '../../..'), env },
    );
    expect(stdout).toBe('EFBIG\n');
    const names = await readdir(join(dir, 'full/blobs'), { recursive: true });
    expect(names).toEqual(['sha256']);
  });

  it('is refused where it is of another version, or lists images and is no layout', async () => {
    await writeFile(join(dir, 'index.json'), '{}');
    await expect(access.openTarget(`oci:${dir}`)).rejects.toThrow(`${dir} has no file oci-layout`);
    await writeFile(join(dir, 'oci-layout'), '{"imageLayoutVersion":"2.0.0"}');
    await expect(access.openTarget(`oci:${dir}`)).rejects.toThrow('imageLayoutVersion');
  });
});

// A file that has its name before its content is on the disk may be zeros after a power loss.
describe('content is on the disk before it has its name', () => {
  /** What `look` sees at each sync of a file. */
  async function atSyncs<T>(look: () => T): Promise<readonly T[]> {
    const seen: T[] = [];
    const file = await open(join(dir, 'any'), 'w');
    const prototype = Object.getPrototypeOf(file) as FileHandle;
    await file.close();
    vi.spyOn(prototype, 'sync').mockImplementation(async () => void seen.push(look()));
    return seen;
  }

  it('in a directory: its blobs, and its index after them', async () => {
    const { target } = await access.openTarget(`oci:${join(dir, 'images')}`);
    const seen = await atSyncs(() => ({
      blobs: readdirSync(join(dir, 'images/blobs/sha256')).filter((name) => !name.includes('.'))
        .length,
      isListed: readFileSync(join(dir, 'images/index.json'), 'utf8').includes('"first"'),
    }));
    await pushTo(target, 'first');
    await target.close();
    expect(seen).toEqual([0, 1, 2, 3].map((blobs) => ({ blobs, isListed: false })));
  });

  it('in a tar', async () => {
    const path = join(dir, 'images.tar');
    const { target } = await access.openTarget(`oci-archive:${path}`);
    await pushTo(target, 'v1');
    const seen = await atSyncs(() => existsSync(path));
    await target.close();
    expect(seen).toEqual([false]);
  });
});
