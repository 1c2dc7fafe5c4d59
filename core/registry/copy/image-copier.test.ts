import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UploadRegistry } from '../../../test/helpers/upload-registry.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ImageTarget } from '../configuration/place.ts';
import {
  copyImage,
  emptyKeychain,
  HostLimits,
  ImageCopier,
  RegistryAccess,
  readWholeImage,
  referrersOf,
} from '../index.ts';
import { mediaTypes } from '../media-types.ts';
import { digestOf, parseImageReference } from '../reference.ts';

const { signal } = new AbortController();
const mediaType = mediaTypes.ociManifest;
const config = Buffer.from('{}');
let registry: UploadRegistry;
let access: RegistryAccess;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-copier-'));
  registry = await UploadRegistry.start();
  access = new RegistryAccess({
    insecureRegistries: [registry.host],
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
});

afterEach(async () => {
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
});

function inRegistry(repository: string): ImageTarget {
  return access.repositoryTarget(parseImageReference(`${registry.host}/${repository}:v1`));
}

async function pushManifest(target: ImageTarget, more: object, tag?: string) {
  const descriptor = { digest: digestOf(config), size: config.byteLength };
  await target.pushBlob({ descriptor, open: () => [config] }, signal);
  const written = { mediaType: mediaTypes.ociConfig, ...descriptor };
  const document = { schemaVersion: 2, mediaType, config: written, layers: [], ...more };
  return await target.pushManifest(
    { bytes: Buffer.from(JSON.stringify(document)), mediaType, tag },
    signal,
  );
}

/** Copies a signed image as `rukpakctl mirror` does. */
async function copySigned(to: ImageTarget): Promise<string> {
  const from = inRegistry('org/source');
  const subject = await pushManifest(from, {}, 'v1');
  await pushManifest(from, { subject, artifactType: 'application/x.signature' });
  const { place, manifest } = await access.open(`${registry.host}/org/source:v1`, signal);
  const image = await readWholeImage({ place, manifest, withAttached: true, signal });
  const copier = new ImageCopier({
    limits: new HostLimits(4),
    onBytes: () => undefined,
    signal,
  });
  const source = { place, host: 'source', repository: 'org/source' };
  await copier.copy(image, source, { target: to, host: 'mirror', repository: 'org/mirror' });
  return subject.digest;
}

async function signaturesAt(target: ImageTarget, digest: string): Promise<number> {
  return (await referrersOf(target.place, digest, { signal })).length;
}

describe('a signature that was pushed by a killed run', () => {
  test('is listed by the next one in a registry without the referrers API', async () => {
    const target = inRegistry('org/mirror');
    const digest = await copySigned(target);
    expect(await signaturesAt(target, digest)).toBe(1);
    registry.manifests.delete(`org/mirror:${digest.replace(':', '-')}`);
    await copySigned(target);
    expect(await signaturesAt(target, digest)).toBe(1);
  });

  test('is listed by the next one in a directory', async () => {
    const open = async () =>
      (await access.openTarget({ kind: 'layout', path: folder }, { signal })).target;
    const first = await open();
    const digest = await copySigned(first);
    await first.close();
    const file = join(folder, 'index.json');
    const index = JSON.parse(await readFile(file, 'utf8')) as { manifests: { digest: string }[] };
    const listed = index.manifests.filter((each) => each.digest === digest);
    await writeFile(file, JSON.stringify({ ...index, manifests: listed }));
    const second = await open();
    await copySigned(second);
    await second.close();
    const { place } = await access.open({ kind: 'layout', path: folder, name: digest }, signal);
    expect((await referrersOf(place, digest, { signal })).length).toBe(1);
    await place.close();
  });
});

test('an image of an index in a directory can get a name of its own', async () => {
  const from = inRegistry('org/source');
  const image = await pushManifest(from, {}, 'v1');
  const list = { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [image] };
  const bytes = Buffer.from(JSON.stringify(list));
  await from.pushManifest({ bytes, mediaType: mediaTypes.ociIndex, tag: 'all' }, signal);
  const { target } = await access.openTarget({ kind: 'layout', path: folder }, { signal });
  for (const tag of ['all', 'v1']) {
    const { place, manifest } = await access.open(`${registry.host}/org/source:${tag}`, signal);
    await copyImage({ place, manifest, target, tag, signal });
  }
  expect(await target.findDigest('v1', signal)).toBe(image.digest);
  await target.close();
});

test('an image of one platform has its attestations, also where it is listed for another one too', async () => {
  const from = inRegistry('org/source');
  const platform = { os: 'linux', architecture: 'amd64' };
  const arm64 = { ...platform, architecture: 'arm64' };
  const [both, other] = [await pushManifest(from, {}), await pushManifest(from, { layers: null })];
  const attestations = await Promise.all(
    [both, other].map(async ({ digest }) => {
      const annotations = { 'vnd.docker.reference.digest': digest };
      const attestation = await pushManifest(from, { annotations });
      return { ...attestation, annotations, platform: { os: 'unknown', architecture: 'unknown' } };
    }),
  );
  const manifests = [
    { ...both, platform },
    { ...both, platform: arm64 },
    { ...other, platform: arm64 },
    ...attestations,
  ];
  const list = { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests };
  const bytes = Buffer.from(JSON.stringify(list));
  await from.pushManifest({ bytes, mediaType: mediaTypes.ociIndex, tag: 'v1' }, signal);
  const { place, manifest } = await access.open(`${registry.host}/org/source:v1`, signal);
  const image = await readWholeImage({ place, manifest, platform, withAttached: false, signal });
  expect(image.manifests.map(({ digest }) => digest)).toEqual([
    both.digest,
    attestations[0]?.digest,
    manifest.digest,
  ]);
});
