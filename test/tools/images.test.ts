import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BuiltImage,
  buildBundleImage,
  buildCatalogImage,
  unpackImage,
} from '../../catalog/images/index.ts';
import { defaultLimits } from '../../core/content/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import {
  copyImage,
  digestOf,
  emptyKeychain,
  mediaTypes,
  parseImageReference,
  RegistryAccess,
  referrersOf,
} from '../../core/registry/index.ts';
import { ImagePuller } from '../../core/sources/index.ts';
import { startBusyRegistry } from '../helpers/hostile-registries.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';

const run = promisify(execFile);
const shared = join(import.meta.dirname, '../../../shared');
const bundle = join(shared, 'bundles/etcd/0.6.1');
const catalog = join(shared, 'catalogs/packages/shipwright-operator');
const { signal } = new AbortController();
const hasSkopeo = await run('skopeo', ['--version']).then(
  () => true,
  () => false,
);
let dir = '';
let registry: OwnRegistry;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'images-'));
  registry = await OwnRegistry.start({ dir });
}, 600_000);

afterAll(async () => {
  await registry.stop();
  await rm(dir, { recursive: true });
});

function accessTo(...insecureRegistries: readonly string[]): RegistryAccess {
  return new RegistryAccess({
    insecureRegistries,
    caCertificates: [],
    keychain: emptyKeychain,
    clock: systemClock,
  });
}

async function push(image: BuiltImage, place: string, host = registry.host): Promise<string> {
  const { target, tag } = await accessTo(host).openTarget(place);
  await image.push(target, tag, signal);
  await target.close();
  await image.close();
  return image.descriptor.digest;
}

describe('images on a real registry', () => {
  it('of the same bundle have the same digest, and core reads them', async () => {
    const copy = join(dir, 'copy');
    await cp(bundle, copy, { recursive: true });
    const repository = `${registry.host}/bundles/etcd`;
    const first = await push(await buildBundleImage(bundle, { signal }), `${repository}:v1`);
    const second = await push(await buildBundleImage(copy, { signal }), `${repository}:v2`);
    expect(second).toBe(first);
    const puller = new ImagePuller({ insecureRegistries: [registry.host], clock: systemClock });
    const options = { limits: defaultLimits, keychain: emptyKeychain, signal };
    const { files, pinnedRef } = await puller.pull(`${repository}:v1`, options);
    expect(pinnedRef).toBe(`${repository}@${first}`);
    expect([...files.files.keys()]).toContain('metadata/annotations.yaml');
  });

  it('are copied through a layout and a tar, mounted and unpacked', async () => {
    const access = accessTo(registry.host);
    const digest = await push(
      await buildCatalogImage(catalog, { signal, format: 'docker' }),
      `oci:${join(dir, 'layout')}:v1`,
    );
    const places = [
      join(dir, 'layout'),
      `oci-archive:${join(dir, 'catalog.tar')}:v1`,
      `${registry.host}/catalogs/shipwright:v1`,
      `${registry.host}/mirror/shipwright:v1`,
    ];
    for (const [index, to] of places.slice(1).entries()) {
      const image = await access.open(places[index] ?? '', signal);
      const { target, tag } = await access.openTarget(to);
      const mountFrom = 'catalogs/shipwright';
      const copied = await copyImage({ ...image, target, tag, mountFrom, signal });
      await target.close();
      await image.place.close();
      expect(copied.digest).toBe(digest);
    }
    const image = await access.open(places.at(-1) ?? '', signal);
    await unpackImage(image, join(dir, 'unpacked'), { signal, only: '/configs' });
    await run('diff', ['-r', catalog, join(dir, 'unpacked/configs')]);
  });

  it('have large layers, sent in chunks to a registry that refuses every other request', async () => {
    const busy = await startBusyRegistry(registry.host);
    try {
      const target = accessTo(busy.host, registry.host).repositoryTarget(
        parseImageReference(`${busy.host}/large/blob:v1`),
      );
      const bytes = Buffer.alloc(40 * 1024 * 1024, 'chunks ');
      const descriptor = { digest: digestOf(bytes), size: bytes.byteLength };
      expect(await target.pushBlob({ descriptor, open: () => [bytes] }, signal)).toBe('pushed');
      expect(await target.pushBlob({ descriptor, open: () => [bytes] }, signal)).toBe('present');
    } finally {
      await busy.close();
    }
  });

  it('have referrers, as the registry keeps them', async () => {
    const access = accessTo(registry.host);
    const place = `${registry.host}/signed/etcd:v1`;
    const digest = await push(await buildBundleImage(bundle, { signal }), place);
    const { target } = await access.openTarget(place);
    const empty = { digest: digestOf(Buffer.from('{}')), size: 2 };
    await target.pushBlob({ descriptor: empty, open: () => [Buffer.from('{}')] }, signal);
    const image = await access.open(place, signal);
    const { ociManifest: mediaType } = mediaTypes;
    const subject = { mediaType, digest, size: image.manifest.bytes.byteLength };
    const config = { mediaType: mediaTypes.ociEmpty, ...empty };
    const document = { schemaVersion: 2, mediaType, config, layers: [config], subject };
    const bytes = Buffer.from(JSON.stringify({ ...document, artifactType: 'example/signature' }));
    await target.pushManifest({ bytes, mediaType }, signal);
    const found = await referrersOf(image.place, digest, { signal });
    expect(found.map(({ artifactType }) => artifactType)).toEqual(['example/signature']);
  });

  it('are refused in one sentence where the registry does not take a manifest', async () => {
    const { target } = await accessTo(registry.host).openTarget(`${registry.host}/bad/app:v1`);
    const missing = {
      mediaType: mediaTypes.ociConfig,
      digest: `sha256:${'0'.repeat(64)}`,
      size: 2,
    };
    const mediaType = mediaTypes.ociManifest;
    const document = { schemaVersion: 2, mediaType, config: missing, layers: [] };
    const bytes = Buffer.from(JSON.stringify(document));
    await expect(target.pushManifest({ bytes, mediaType, tag: 'v1' }, signal)).rejects.toThrow(
      `registry ${registry.host} refuses manifest v1 for ${registry.host}/bad/app: 400 Bad Request (MANIFEST_BLOB_UNKNOWN`,
    );
  });
});

describe('skopeo', () => {
  it.runIf(hasSkopeo).each([
    ['bundle', 'oci', 'oci'],
    ['bundle', 'oci-archive', 'oci'],
    ['bundle', 'docker', 'docker'],
    ['catalog', 'oci', 'oci'],
    ['catalog', 'oci-archive', 'oci'],
    ['catalog', 'docker', 'docker'],
  ] as const)(
    'reads the image of a %s at %s: in format %s, and copies it',
    async (what, transport, format) => {
      const image =
        what === 'bundle'
          ? await buildBundleImage(bundle, { signal, format })
          : await buildCatalogImage(catalog, { signal, format });
      const path =
        transport === 'docker'
          ? `//${registry.host}/built/${what}`
          : join(dir, `${what}-${transport}`);
      const place = `${transport}:${path}:v1`;
      const digest = await push(image, place);
      const { stdout } = await run('skopeo', ['inspect', '--tls-verify=false', place]);
      const labels =
        what === 'bundle'
          ? { 'operators.operatorframework.io.bundle.package.v1': 'etcd' }
          : { 'operators.operatorframework.io.index.configs.v1': '/configs' };
      expect(JSON.parse(stdout)).toMatchObject({
        Digest: digest,
        Architecture: 'amd64',
        Labels: labels,
      });
      await writeFile(join(dir, 'policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}');
      const policy = ['--policy', join(dir, 'policy.json')];
      const copy = `${registry.host}/skopeo/${what}-${transport}:v1`;
      const to = `docker://${copy}`;
      const insecure = ['--src-tls-verify=false', '--dest-tls-verify=false'];
      await run('skopeo', [...policy, 'copy', ...insecure, '-q', place, to]);
      const { manifest } = await accessTo(registry.host).open(copy, signal);
      expect(manifest.digest).toBe(digest);
    },
  );

  if (!hasSkopeo) it.skip('is absent: install it to check images with it', () => {});
});
