import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../core/registry/index.ts';
import { FakeRegistry } from '../../test/helpers/fake-registry.ts';
import { type BuiltImage, buildBundleImage, buildCatalogImage } from '../images/index.ts';
import { openCatalog } from './index.ts';

const { signal } = new AbortController();
const registry = new RegistryAccess({
  insecureRegistries: [],
  caCertificates: [],
  keychain: emptyKeychain,
  clock: systemClock,
});
const bundles = join(import.meta.dirname, '../../../shared/bundles');
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'open-catalog-'));
  await mkdir(join(dir, 'catalog/app'), { recursive: true });
  await writeFile(join(dir, 'catalog/app/index.yaml'), 'schema: olm.package\n');
});

afterEach(() => rm(dir, { recursive: true }));

async function push(image: BuiltImage, place: string): Promise<void> {
  const { target, tag } = await registry.openTarget(place);
  await image.push(target, tag, signal);
  await image.close();
  await target.close();
}

async function open(place: string): ReturnType<typeof openCatalog> {
  return await openCatalog(place, { registry: async () => registry, signal });
}

describe('a catalog is opened', () => {
  test('as a directory, without a registry client', async () => {
    const unwanted = async (): Promise<never> => await Promise.reject(new Error('no registry'));
    const catalog = await openCatalog(join(dir, 'catalog'), { registry: unwanted, signal });
    expect(catalog.dir).toBe(join(dir, 'catalog'));
    await catalog.close();
    await access(catalog.dir);
  });

  test.each([
    ['an OCI layout', 'oci:DIR/layout:v1', 'DIR/layout'],
    ['a tar of one', 'oci-archive:DIR/catalog.tar:v1', 'DIR/catalog.tar'],
  ])('as %s, unpacked until it is closed', async (_case, written, read) => {
    const image = await buildCatalogImage(join(dir, 'catalog'), { signal });
    await push(image, written.replace('DIR', dir));
    for (const place of [written, read]) {
      const catalog = await open(place.replace('DIR', dir));
      expect(await readFile(join(catalog.dir, 'app/index.yaml'), 'utf8')).toBe(
        'schema: olm.package\n',
      );
      await catalog.close();
      await expect(access(catalog.dir)).rejects.toThrow('ENOENT');
    }
  });

  test('unless the image is another one, or a file', async () => {
    await push(await buildBundleImage(join(bundles, 'etcd/0.6.1'), { signal }), `oci:${dir}/b:v1`);
    await expect(open(`oci:${dir}/b`)).rejects.toThrow(
      `image oci:${dir}/b is no file-based catalog: it has no label operators.operatorframework.io.index.configs.v1`,
    );
    const file = join(dir, 'catalog/app/index.yaml');
    await expect(open(file)).rejects.toThrow(`${file} is a file: name the directory`);
    await expect(open(join(dir, 'none'))).rejects.toThrow('no such file or directory');
    await expect(open('catalogue')).rejects.toThrow(
      'there is no directory catalogue: name the directory of the catalog, an OCI layout, or an image with its registry',
    );
    await expect(open('catalogs/greeter')).rejects.toThrow(
      'there is no directory catalogs/greeter',
    );
  });

  test('unless a layer unpacks to a thousand times its size', async () => {
    const server = await FakeRegistry.start();
    try {
      const labels = { 'operators.operatorframework.io.index.configs.v1': '/configs' };
      const config = server.addBlob(
        Buffer.from(JSON.stringify({ config: { Labels: labels } })),
        'application/vnd.oci.image.config.v1+json',
      );
      const files = { 'configs/catalog.yaml': Buffer.alloc(50_000_000) };
      await server.addImage('v1', [{ files, compression: 'zstd' }], (manifest) => {
        return { ...manifest, config };
      });
      const access = new RegistryAccess({
        insecureRegistries: [server.host],
        caCertificates: [],
        keychain: emptyKeychain,
        clock: systemClock,
      });
      const opening = openCatalog(`${server.host}/catalog:v1`, {
        registry: async () => access,
        signal,
      });
      await expect(opening).rejects.toThrow(/^layer sha256:.* times its compressed size/);
    } finally {
      await server.stop();
    }
  });
});
