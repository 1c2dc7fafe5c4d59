import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { tarArchive } from '../tar-archive.ts';
import { baseImage } from './base-image.ts';
import { baseLayer } from './base-layer.ts';
import { readDebianPackage } from './debian-package.ts';
import { type LayerFile, readArchive, writeLayer } from './layer.ts';
import { digestOf, type ImageSettings, imageLayer, mediaTypes, writeLayout } from './layout.ts';
import { architectures } from './pins.ts';
import { pushLayout } from './push-layout.ts';

const { signal } = new AbortController();

const settings: ImageSettings = {
  user: '65532:65532',
  workingDir: '/app',
  env: ['NODE_ENV=production'],
  entrypoint: ['/nodejs/bin/node'],
  cmd: ['--help'],
  labels: { 'org.opencontainers.image.title': 'a' },
};

function aFile(text: string, mode = 0o644): LayerFile {
  return { type: 'File', mode, content: Buffer.from(text) };
}

/** As dpkg-deb writes one, with members of gzip. */
function aDebianPackage(control: string, entries: Parameters<typeof tarArchive>[0]): Buffer {
  const members: readonly (readonly [string, Buffer])[] = [
    ['debian-binary', Buffer.from('2.0\n')],
    ['control.tar.gz', gzipSync(tarArchive([{ name: './control', content: control }]))],
    ['data.tar.gz', gzipSync(tarArchive(entries))],
  ];
  const parts = members.flatMap(([name, bytes]) => {
    const header = `${name.padEnd(16)}${'0'.padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}${String(bytes.byteLength).padEnd(10)}\`\n`;
    return [Buffer.from(header), bytes, Buffer.alloc(bytes.byteLength % 2, '\n')];
  });
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts]);
}

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rukpak-layout-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function aLayout(): Promise<string> {
  const layer = await imageLayer(new Map([['app/a', aFile('a')]]), 'a test');
  const images = architectures.map((architecture) => ({ architecture, layers: [layer] }));
  const created = '2026-01-01T00:00:00.000Z';
  return (await writeLayout(folder, { images, settings, created, tag: 'v1' })).digest;
}

async function blob(digest: string): Promise<Buffer> {
  return await readFile(join(folder, 'blobs', digest.replace(':', '/')));
}

describe('a layer', () => {
  test('has the same bytes whatever the order of its files, with folders and permissions', async () => {
    const program = aFile('#!', 0o755);
    const link: LayerFile = { type: 'SymbolicLink', mode: 0o777, linkpath: '../a/program' };
    const one = writeLayer(
      new Map([
        ['a/program', program],
        ['b/link', link],
      ]),
    );
    const other = writeLayer(
      new Map([
        ['b/link', link],
        ['a/program', program],
      ]),
    );
    expect(one.equals(other)).toBe(true);
    const read = await readArchive(one);
    expect([...read.keys()]).toEqual(['a', 'a/program', 'b', 'b/link']);
    expect(read.get('a/program')).toEqual(program);
    expect(read.get('b/link')).toEqual(link);
    expect(read.get('a')).toEqual({ type: 'Directory', mode: 0o755 });
  });

  test('takes no device and no path out of the image', async () => {
    const device = tarArchive([{ name: 'dev/null', type: 'CharacterDevice' }]);
    await expect(readArchive(device)).rejects.toThrow('"dev/null" of type CharacterDevice');
    const outside = tarArchive([{ name: '../outside', content: '' }]);
    await expect(readArchive(outside)).rejects.toThrow('"../outside"');
  });
});

describe('the base', () => {
  const control = 'Package: libc6\nVersion: 2.36-9\n';
  const library = aFile('ELF', 0o755);

  test('has the libraries and certificates of Debian packages, and no program or manual', async () => {
    const debian = await readDebianPackage(
      aDebianPackage(control, [
        { name: './lib/libc.so.6', content: 'ELF', mode: 0o755 },
        { name: './bin/sh', content: 'ELF', mode: 0o755 },
        { name: './usr/sbin/update-ca-certificates', content: '#!/bin/sh' },
        { name: './usr/share/doc/libc6/copyright', content: 'free' },
        { name: './usr/share/doc/libc6/changelog.gz', content: 'long' },
        { name: './usr/share/ca-certificates/mozilla/B.crt', content: 'B' },
        { name: './usr/share/ca-certificates/mozilla/A.crt', content: 'A\n' },
      ]),
    );
    const files = baseLayer([debian]);
    expect(files.get('lib/libc.so.6')).toEqual(library);
    expect(files.get('usr/share/doc/libc6/copyright')).toBeDefined();
    expect([...files.keys()].filter((path) => /bin\/|changelog/.test(path))).toEqual([]);
    expect(files.get('etc/ssl/certs/ca-certificates.crt')).toEqual(aFile('A\nB\n'));
    expect(files.get('var/lib/dpkg/status.d/libc6')).toEqual(aFile(control));
    expect(String(files.get('etc/passwd')?.content)).toContain('nonroot:x:65532:65532:');
  });

  test('refuses other files than Debian packages, and incomplete ones', async () => {
    await expect(readDebianPackage(Buffer.from('<html>'))).rejects.toThrow('not a Debian package');
    const whole = aDebianPackage(control, [{ name: './a', content: 'a' }]);
    const half = whole.subarray(0, whole.byteLength - 40);
    await expect(readDebianPackage(half)).rejects.toThrow('cut off in its member "data.tar.gz"');
  });
});

describe('an image layout', () => {
  test('is the same for the same content, and all of it is found by its digest', async () => {
    const digest = await aLayout();
    const again = await aLayout();
    expect(again).toBe(digest);
    const index = JSON.parse(String(await blob(digest))) as {
      manifests: { digest: string; platform: object }[];
    };
    expect(index.manifests.map(({ platform }) => platform)).toEqual([
      { os: 'linux', architecture: 'amd64' },
      { os: 'linux', architecture: 'arm64' },
    ]);
    const manifest = JSON.parse(String(await blob(index.manifests[0]?.digest ?? ''))) as {
      config: { digest: string };
      layers: { digest: string }[];
    };
    const config = JSON.parse(String(await blob(manifest.config.digest))) as {
      config: object;
      rootfs: { diff_ids: string[] };
    };
    const layer = await blob(manifest.layers[0]?.digest ?? '');
    expect(config.rootfs.diff_ids).toEqual([digestOf(gunzipSync(layer))]);
    expect(config.config).toMatchObject({ User: '65532:65532', WorkingDir: '/app' });
  });
});

describe('a registry', () => {
  let registry: FakeRegistry;

  beforeEach(async () => {
    registry = await FakeRegistry.start();
  });

  afterEach(async () => {
    await registry.stop();
  });

  test('that refuses a push is named, with the way out', async () => {
    await aLayout();
    registry.intercept = (_request, response) => {
      response.writeHead(401).end();
      return true;
    };
    const target = { domain: registry.host, path: 'team/app', tag: 'v1' };
    const access = { insecureRegistries: [registry.host], dockerConfig: folder, signal };
    await expect(pushLayout(folder, target, access)).rejects.toThrow(
      `cannot push to ${registry.host}/team/app: registry ${registry.host} denies access to repository team/app without credentials (401 Unauthorized); log in with "docker login ${registry.host}", without a credential helper`,
    );
  });

  test('has another base, whose layers are taken as they are', async () => {
    const { bytes, diffId } = await imageLayer(new Map([['lib/libc.so', aFile('ELF')]]), 'base');
    const docker = 'application/vnd.docker.image.rootfs.diff.tar.gzip';
    const config = { rootfs: { type: 'layers', diff_ids: [diffId] } };
    const manifest = {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: registry.addBlob(Buffer.from(JSON.stringify(config)), mediaTypes.config),
      layers: [registry.addBlob(bytes, docker)],
    };
    registry.addManifest(manifest, { mediaType: mediaTypes.manifest, tag: 'v1' });
    const access = { insecureRegistries: [registry.host], dockerConfig: folder };
    const base = await baseImage(`${registry.host}/org/app:v1`, access, signal);
    expect(base.reference).toMatch(/\/org\/app@sha256:[0-9a-f]{64}$/);
    expect(await base.layers('amd64')).toEqual([
      { bytes, diffId, mediaType: mediaTypes.layer, madeBy: expect.any(String) },
    ]);
  });
});
