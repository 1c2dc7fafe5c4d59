import { cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import { emptyKeychain, RegistryAccess } from '../../core/registry/index.ts';
import { buildBundleImage, buildCatalogImage, platformImage, unpackImage } from './index.ts';

const { signal } = new AbortController();
const bundles = join(import.meta.dirname, '../../../shared/bundles');
const access = new RegistryAccess({
  insecureRegistries: [],
  caCertificates: [],
  keychain: emptyKeychain,
  clock: systemClock,
});
let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'images-'));
});

afterEach(() => rm(dir, { recursive: true }));

async function aBundle(name: string): Promise<string> {
  const root = join(dir, name);
  await mkdir(join(root, 'manifests'), { recursive: true });
  await mkdir(join(root, 'metadata'));
  await writeFile(join(root, 'manifests/a.yaml'), 'kind: A\n', { mode: 0o600 });
  await writeFile(
    join(root, 'metadata/annotations.yaml'),
    'annotations:\n  operators.operatorframework.io.bundle.package.v1: app\n  version: 1.0\n',
  );
  return root;
}

async function filesOf(root: string): Promise<Readonly<Record<string, string>>> {
  const found: [string, string][] = [];
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    found.push([path.slice(root.length + 1), await readFile(path, 'utf8')]);
  }
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

describe('an image', () => {
  it('has the same digest in another folder, at another time, with other modes', async () => {
    const first = await aBundle('first');
    const second = join(dir, 'second');
    await cp(first, second, { recursive: true });
    await utimes(join(second, 'manifests/a.yaml'), 1, 1);
    const digests: string[] = [];
    for (const root of [first, second]) {
      const image = await buildBundleImage(root, { signal });
      digests.push(image.descriptor.digest);
      await image.close();
    }
    expect(digests[0]).toBe(digests[1]);
    // On every machine: a change of this digest is one of all images that were built.
    expect(digests[0]).toBe(
      'sha256:4b3211e8e20f5f5ee61bce72b4ae00f8a478fae39bba4234cd3d70a2e4d7f573',
    );
  });

  it('has a Dockerfile that makes the same image of the same directories', async () => {
    const root = await aBundle('bundle');
    const labels = new Map([['quoted', 'a "b" $c']]);
    const image = await buildBundleImage(root, { signal, labels });
    expect(image.dockerfile(dir)).toBe(`FROM scratch

LABEL "operators.operatorframework.io.bundle.package.v1"="app"
LABEL "quoted"="a \\"b\\" \\$c"
LABEL "version"="1"
COPY ["bundle/manifests","/manifests/"]
COPY ["bundle/metadata","/metadata/"]
`);
    await image.close();
  });

  it('of a bundle has its annotations as labels, and its files', async () => {
    const root = join(bundles, 'etcd/0.6.1');
    const image = await buildBundleImage(root, { signal, labels: new Map([['a', 'b']]) });
    const { target } = await access.openTarget(`oci:${join(dir, 'layout')}`);
    await image.push(target, 'v1', signal);
    await image.close();
    await target.close();
    const opened = await access.open(join(dir, 'layout'), signal);
    const { labels } = await platformImage(opened, signal);
    expect(labels).toMatchObject({
      a: 'b',
      'operators.operatorframework.io.bundle.mediatype.v1': 'registry+v1',
      'operators.operatorframework.io.bundle.package.v1': 'etcd',
    });
    await unpackImage(opened, join(dir, 'out'), { signal });
    expect(await filesOf(join(dir, 'out'))).toEqual(await filesOf(root));
    await expect(unpackImage(opened, join(dir, 'out'), { signal })).rejects.toThrow('is not empty');
  });

  it('of a catalog has it as /configs, in the media types that were asked for', async () => {
    await mkdir(join(dir, 'catalog/app'), { recursive: true });
    await writeFile(join(dir, 'catalog/app/index.yaml'), 'schema: olm.package\n');
    const image = await buildCatalogImage(join(dir, 'catalog'), { signal, format: 'docker' });
    expect(image.descriptor.mediaType).toContain('docker');
    const file = `oci-archive:${join(dir, 'catalog.tar')}:v1`;
    const { target, tag } = await access.openTarget(file);
    await image.push(target, tag, signal);
    await image.close();
    await target.close();
    const opened = await access.open(file, signal);
    const labels = await unpackImage(opened, join(dir, 'out'), { signal, only: '/configs' });
    expect(labels).toEqual({ 'operators.operatorframework.io.index.configs.v1': '/configs' });
    expect(await filesOf(join(dir, 'out'))).toEqual({
      'configs/app/index.yaml': 'schema: olm.package\n',
    });
    await opened.place.close();
  });

  it('is not built of what is no bundle', async () => {
    await expect(buildBundleImage(dir, { signal })).rejects.toThrow(
      `${dir} is no bundle: it has no directory manifests and no metadata`,
    );
  });
});
