import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UploadRegistry } from '../../../test/helpers/upload-registry.ts';
import type { ImageTarget } from '../configuration/place.ts';
import {
  type Credentials,
  DeniedError,
  emptyKeychain,
  RegistryAccess,
  referrersOf,
} from '../index.ts';
import { mediaTypes } from '../media-types.ts';
import { digestOf, parseImageReference } from '../reference.ts';

const { signal } = new AbortController();
const mebibyte = 1024 * 1024;
let registry: UploadRegistry;
let access: RegistryAccess;
let target: ImageTarget;

beforeEach(async () => {
  registry = await UploadRegistry.start();
  const clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
  access = new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock,
  });
  target = access.repositoryTarget(parseImageReference(`${registry.host}/org/app:v1`));
});

afterEach(() => registry.stop());

function blobOf(bytes: Uint8Array) {
  const descriptor = { digest: digestOf(bytes), size: bytes.byteLength };
  return { descriptor, open: () => [bytes] };
}

function aManifest(more: object = {}): Uint8Array {
  const config = { mediaType: mediaTypes.ociConfig, ...blobOf(Buffer.from('{}')).descriptor };
  const document = { schemaVersion: 2, mediaType: mediaTypes.ociManifest, config, layers: [] };
  return Buffer.from(JSON.stringify({ ...document, ...more }));
}

describe('pushBlob', () => {
  it('sends a blob once, and not what the registry has', async () => {
    const blob = blobOf(Buffer.from('content'));
    expect(await target.pushBlob(blob, signal)).toBe('pushed');
    expect(await target.pushBlob(blob, signal)).toBe('present');
    expect(registry.seen.filter((each) => each.startsWith('PUT'))).toHaveLength(1);
  });

  it('takes a blob over from another repository', async () => {
    const blob = blobOf(Buffer.from('content'));
    const mounted = { ...blob, mountFrom: 'org/base' };
    registry.elsewhere.set(blob.descriptor.digest, Buffer.from('content'));
    expect(await target.pushBlob(mounted, signal)).toBe('mounted');
    expect(await target.hasBlob(blob.descriptor, signal)).toBe(true);
    const other = { ...blobOf(Buffer.from('other')), mountFrom: 'org/base' };
    expect(await target.pushBlob(other, signal)).toBe('pushed');
  });

  it.each([401, 403, 404, 405])(
    'sends a blob whose other repository is refused with %i',
    async (status) => {
      registry.refusesMounts = status;
      const blob = { ...blobOf(Buffer.from('content')), mountFrom: 'other-project/base' };
      expect(await target.pushBlob(blob, signal)).toBe('pushed');
      expect(await target.hasBlob(blob.descriptor, signal)).toBe(true);
    },
  );

  it('begins a small blob again where the connection breaks', async () => {
    registry.cuts = 2;
    const blob = blobOf(Buffer.alloc(mebibyte, 'a'));
    expect(await target.pushBlob(blob, signal)).toBe('pushed');
    expect(registry.blobs.get(blob.descriptor.digest)?.byteLength).toBe(mebibyte);
  });

  it('sends a large blob in chunks, and of a lost one what is missing', {
    tags: ['slow'],
  }, async () => {
    registry.cuts = 3;
    registry.cutAfter = 3 * mebibyte;
    const bytes = Buffer.alloc(40 * mebibyte, 'abcdefg');
    expect(await target.pushBlob(blobOf(bytes), signal)).toBe('pushed');
    expect(registry.blobs.get(digestOf(bytes))?.equals(bytes)).toBe(true);
    expect(registry.seen.filter((each) => each.startsWith('POST'))).toHaveLength(1);
    expect(registry.seen.filter((each) => each.startsWith('GET'))).toHaveLength(3);
  });

  it('sends a large blob at once to a registry that takes no chunks', async () => {
    registry.refusesChunks = true;
    const bytes = Buffer.alloc(33 * mebibyte, 'abcdefg');
    expect(await target.pushBlob(blobOf(bytes), signal)).toBe('pushed');
    expect(registry.blobs.has(digestOf(bytes))).toBe(true);
  });

  it('says in one sentence what the registry has against a blob', async () => {
    const { descriptor } = blobOf(Buffer.from('content'));
    const wrong = { descriptor, open: () => [Buffer.from('CONTENT')] };
    await expect(target.pushBlob(wrong, signal)).rejects.toThrow(
      `registry ${registry.host} refuses blob ${descriptor.digest} for ${registry.host}/org/app: 400 Bad Request (DIGEST_INVALID "provided digest did not match")`,
    );
  });
});

describe('credentials', () => {
  const reader = { username: 'reader', password: 'x' };
  const writer = { username: 'writer', password: 'x' };
  const stranger = { username: 'stranger', password: 'x' };
  let denied: number;

  beforeEach(() => {
    denied = 0;
    registry.denies = ({ method, headers: { authorization } }) => {
      if (authorization === basicOf(writer)) return undefined;
      if (authorization !== basicOf(reader)) return 401;
      if (method === 'GET' || method === 'HEAD') return undefined;
      denied += 1;
      return 403;
    };
  });

  const basicOf = ({ username, password }: Credentials) =>
    `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

  function targetWith(...credentials: readonly Credentials[]): ImageTarget {
    const keychain = { credentialsFor: () => credentials };
    const name = `${registry.host}/org/app:v1`;
    return access.as({ keychain }).repositoryTarget(parseImageReference(name));
  }

  it.each([
    ['may only pull', reader],
    ['are wrong', stranger],
  ])('that %s give way to the next ones, which all further requests use', async (_case, first) => {
    const to = targetWith(first, writer);
    const blob = blobOf(Buffer.from('content'));
    expect(await to.pushBlob(blob, signal)).toBe('pushed');
    expect(await to.pushBlob(blob, signal)).toBe('present');
    const pushed = { bytes: aManifest(), mediaType: mediaTypes.ociManifest, tag: 'v1' };
    const { digest } = await to.pushManifest(pushed, signal);
    await to.tag(digest, 'latest', signal);
    expect(await to.findDigest('latest', signal)).toBe(digest);
    expect(denied).toBe(first === reader ? 1 : 0);
  });

  it('of which none may push are an error', async () => {
    const pushed = targetWith(reader, stranger).pushBlob(blobOf(Buffer.from('x')), signal);
    await expect(pushed).rejects.toThrow(DeniedError);
  });
});

describe('pushManifest', () => {
  it('pushes under a tag and a digest, and tags again', async () => {
    const bytes = aManifest();
    const mediaType = mediaTypes.ociManifest;
    const { digest } = await target.pushManifest({ bytes, mediaType, tag: 'v1' }, signal);
    expect(await target.findDigest('v1', signal)).toBe(digest);
    await target.tag(digest, 'latest', signal);
    expect(await target.findDigest('latest', signal)).toBe(digest);
    expect(await target.findDigest('v2', signal)).toBeUndefined();
  });

  it('refuses a registry that names another digest', async () => {
    registry.lies = true;
    const manifest = { bytes: aManifest(), mediaType: mediaTypes.ociManifest, tag: 'v1' };
    await expect(target.pushManifest(manifest, signal)).rejects.toThrow(/took manifest sha256/);
  });

  it.each([
    ['by the fallback tag', false, 1],
    ['by the API, which then has them itself', true, 0],
  ])('lists referrers %s', async (_case, hasApi, listed) => {
    registry.hasReferrersApi = hasApi;
    const mediaType = mediaTypes.ociManifest;
    const subject = await target.pushManifest({ bytes: aManifest(), mediaType, tag: 'v1' }, signal);
    const bytes = aManifest({ subject, artifactType: 'application/x.signature' });
    await target.pushManifest({ bytes, mediaType }, signal);
    await target.pushManifest({ bytes, mediaType }, signal);
    const { place } = await access.open(`${registry.host}/org/app:v1`, signal);
    const found = await referrersOf(place, subject.digest, { signal });
    expect(found.map(({ artifactType }) => artifactType)).toEqual(
      Array.from({ length: listed }, () => 'application/x.signature'),
    );
  });
});
