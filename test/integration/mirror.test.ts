import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readRegistriesConf } from '../../core/registry/index.ts';
import { startCuttingRegistry } from '../helpers/hostile-registries.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { pushBlob, pushImage, pushIndex, pushManifest } from '../helpers/push-image.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';

let root: string;
/** Of one test: its own path on the mirror. */
let dir: string;
let source: OwnRegistry;
let mirror: OwnRegistry;
/** An index of two platforms, with a signature as cosign attaches them. */
let index: string;
let runs = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rukpak-mirror-'));
  await mkdir(join(root, 'source'));
  await mkdir(join(root, 'mirror'));
  source = await OwnRegistry.start({ dir: join(root, 'source') });
  mirror = await OwnRegistry.start({ dir: join(root, 'mirror') });
  await pushImage({ ...at('app/one', 'v1'), layers: [{ files: { a: 'shared' } }] });
  const layers = [{ files: { a: 'shared' } }, { files: { b: 'two' } }];
  const amd64 = await pushImage({ ...at('app/two', 'amd64'), layers });
  const arm64 = await pushImage({ ...at('app/two', 'arm64'), layers, architecture: 'arm64' });
  ({ digest: index } = await pushIndex({ ...at('app/two', 'v1'), manifests: [amd64, arm64] }));
  const signature = at('app/two', `${index.replace(':', '-')}.sig`);
  const config = await pushBlob(signature, {
    bytes: Buffer.from('{}'),
    mediaType: 'application/vnd.oci.image.config.v1+json',
  });
  await pushManifest(signature, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config,
    layers: [],
  });
});

afterAll(async () => {
  await source.stop();
  await mirror.stop();
  await rm(root, { recursive: true, force: true });
});

beforeEach(async () => {
  dir = await mkdtemp(join(root, 'run-'));
  runs += 1;
});

function at(repository: string, tag: string) {
  return { registry: source.host, repository, tag };
}

async function anImageSet(...images: readonly string[]): Promise<string> {
  const file = join(dir, 'imageset.yaml');
  const names = images.map((name) => `  - name: ${name}\n`).join('');
  await writeFile(
    file,
    `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  additionalImages:\n${names}`,
  );
  return file;
}

async function mirrored(...args: readonly string[]): Promise<CtlResult> {
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure-registry', host]);
  return await rukpakctl(['mirror', ...args, '--results', join(dir, 'results'), ...hosts]);
}

const to = (): string => `${mirror.host}/run${runs}`;

/** The digest of an image on the mirror. */
async function digestOn(repository: string, reference: string): Promise<string | null> {
  const url = `http://${mirror.host}/v2/run${runs}/${repository}/manifests/${reference}`;
  const accept = [
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.oci.image.manifest.v1+json',
  ].join(', ');
  const answer = await fetch(url, { method: 'HEAD', headers: { accept } });
  return answer.ok ? answer.headers.get('docker-content-digest') : null;
}

describe('to a registry', () => {
  test('images come with their digests, all platforms and signatures, once', async () => {
    const two = `${source.host}/app/two@${index}`;
    const config = await anImageSet(`${source.host}/app/one:v1`, two);
    const first = await mirrored('--config', config, '--to', to());
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('2 mirrored, 0 failed');
    expect(await digestOn('app/two', index)).toBe(index);
    expect(await digestOn('app/two', `${index.replace(':', '-')}.sig`)).not.toBeNull();
    expect(await digestOn('app/one', 'v1')).not.toBeNull();
    const second = await mirrored('--config', config, '--to', to());
    expect(second.stdout).toContain(`present  ${two}`);
    expect(second.stdout).not.toContain('copied');
  });

  test('clusters are told where the images are', async () => {
    const one = `${source.host}/app/one`;
    await mirrored('--config', await anImageSet(`${one}:v1`), '--to', to());
    const { registries } = readRegistriesConf(join(dir, 'results/registries.conf'));
    expect(registries).toMatchObject([
      { prefix: one, mirrors: [{ location: `${to()}/app/one`, insecure: true }] },
    ]);
    const mapping = await readFile(join(dir, 'results/mapping.txt'), 'utf8');
    expect(mapping).toBe(`${one}:v1=${to()}/app/one:v1\n`);
  });

  test('an image that is missing is named, and the others come', async () => {
    const config = await anImageSet(`${source.host}/app/none:v1`, `${source.host}/app/one:v1`);
    const { code, stdout } = await mirrored('--config', config, '--to', to());
    expect(code).toBe(1);
    expect(stdout).toContain(
      `error: ${source.host}/app/none:v1: registry ${source.host} has no "v1" in repository app/none`,
    );
    expect(stdout).toContain('1 mirrored, 1 failed');
    expect(await digestOn('app/one', 'v1')).not.toBeNull();
  });

  test.each([
    { what: 'each connection after ten bytes: the blob is taken up again', bytes: 10, code: 0 },
    {
      what: 'before the first byte: the image is named, and the next run goes on',
      bytes: 0,
      code: 1,
    },
  ])('a registry that cuts $what', async ({ bytes, code }) => {
    const front = await startCuttingRegistry(source.host, bytes);
    try {
      const one = `${front.host}/app/one:v1`;
      const args = ['--to', to(), '--insecure-registry', front.host];
      const cut = await mirrored('--config', await anImageSet(one), ...args);
      expect(cut.code).toBe(code);
      expect(cut.stdout).toContain(code === 0 ? `copied  ${one}` : `error: ${one}: registry `);
      expect((await digestOn('app/one', 'v1')) === null).toBe(code !== 0);
    } finally {
      await front.close();
    }
    const config = await anImageSet(`${source.host}/app/one:v1`);
    expect((await mirrored('--config', config, '--to', to())).code).toBe(0);
  });
});

test('a directory is carried across: the registry of the images is not asked again', async () => {
  const carried = join(dir, 'carried');
  const config = await anImageSet(`${source.host}/app/one:v1`, `${source.host}/app/two@${index}`);
  const filled = await mirrored('--config', config, '--to', carried);
  expect(filled).toMatchObject({ code: 0, stderr: '' });
  await writeFile(config, '');
  const hosts = ['--insecure-registry', mirror.host];
  const pushed = await rukpakctl([
    'mirror',
    '--from',
    carried,
    '--to',
    to(),
    '--results',
    join(dir, 'results'),
    ...hosts,
  ]);
  expect(pushed).toMatchObject({ code: 0, stderr: '' });
  expect(await digestOn('app/two', index)).toBe(index);
  expect(await digestOn('app/two', `${index.replace(':', '-')}.sig`)).not.toBeNull();
  expect(await digestOn('app/one', 'v1')).not.toBeNull();
});

test('a directory that no run has filled is refused', async () => {
  const { code, stderr } = await mirrored('--from', dir, '--to', to());
  expect(code).toBe(1);
  expect(stderr).toContain(`${dir} is no OCI layout`);
});
