import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readRegistriesConf } from '../../core/registry/index.ts';
import { startCuttingRegistry } from '../helpers/hostile-registries.ts';
import { MirrorRegistries } from '../helpers/mirror-registries.ts';
import { pushBlob, pushImage, pushIndex, pushManifest } from '../helpers/push-image.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';

let registries: MirrorRegistries;
/** An index of two platforms, with a signature as cosign attaches them. */
let index: string;

beforeAll(async () => {
  registries = await MirrorRegistries.start();
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

afterAll(async () => await registries.stop());

beforeEach(async () => await registries.nextTest());

function at(repository: string, tag: string) {
  return { registry: registries.source, repository, tag };
}

async function anImageSet(...images: readonly string[]): Promise<string> {
  return await registries.imageSet({ additionalImages: images.map((name) => ({ name })) });
}

async function mirrored(...args: readonly string[]): Promise<CtlResult> {
  const results = join(registries.dir, 'results');
  return await rukpakctl(['mirror', ...args, '--results', results, ...registries.flags]);
}

/** The digest of an image on the mirror. */
async function digestOn(repository: string, reference: string): Promise<string | null> {
  const url = `http://${registries.mirror}/v2/${registries.path}/${repository}/manifests/${reference}`;
  const accept = [
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.oci.image.manifest.v1+json',
  ].join(', ');
  const answer = await fetch(url, { method: 'HEAD', headers: { accept } });
  return answer.ok ? answer.headers.get('docker-content-digest') : null;
}

describe('to a registry', () => {
  test('images come with their digests, all platforms and signatures, once', async () => {
    const two = `${registries.source}/app/two@${index}`;
    const config = await anImageSet(`${registries.source}/app/one:v1`, two);
    const first = await mirrored('--config', config, '--to', registries.to);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('2 mirrored, 0 failed');
    expect(await digestOn('app/two', index)).toBe(index);
    expect(await digestOn('app/two', `${index.replace(':', '-')}.sig`)).not.toBeNull();
    expect(await digestOn('app/one', 'v1')).not.toBeNull();
    const second = await mirrored('--config', config, '--to', registries.to);
    expect(second.stdout).toContain(`present  ${two}`);
    expect(second.stdout).not.toContain('copied');
  });

  test('clusters are told where the images are', async () => {
    const one = `${registries.source}/app/one`;
    await mirrored('--config', await anImageSet(`${one}:v1`), '--to', registries.to);
    const { registries: rules } = readRegistriesConf(
      join(registries.dir, 'results/registries.conf'),
    );
    expect(rules).toMatchObject([
      // Catalogs name the mirror itself.
      { prefix: registries.to, insecure: true, mirrors: [] },
      { prefix: one, mirrors: [{ location: `${registries.to}/app/one`, insecure: true }] },
    ]);
    const mapping = await readFile(join(registries.dir, 'results/mapping.txt'), 'utf8');
    expect(mapping).toBe(`${one}:v1=${registries.to}/app/one:v1\n`);
  });

  test('an image that is missing is named, and the others come', async () => {
    const config = await anImageSet(
      `${registries.source}/app/none:v1`,
      `${registries.source}/app/one:v1`,
    );
    const { code, stdout } = await mirrored('--config', config, '--to', registries.to);
    expect(code).toBe(1);
    expect(stdout).toContain(
      `error: ${registries.source}/app/none:v1: registry ${registries.source} has no "v1" in repository app/none`,
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
    const front = await startCuttingRegistry(registries.source, bytes);
    try {
      const one = `${front.host}/app/one:v1`;
      const args = ['--to', registries.to, '--insecure-registry', front.host];
      const cut = await mirrored('--config', await anImageSet(one), ...args);
      expect(cut.code).toBe(code);
      expect(cut.stdout).toContain(code === 0 ? `copied  ${one}` : `error: ${one}: registry `);
      expect((await digestOn('app/one', 'v1')) === null).toBe(code !== 0);
    } finally {
      await front.close();
    }
    const config = await anImageSet(`${registries.source}/app/one:v1`);
    expect((await mirrored('--config', config, '--to', registries.to)).code).toBe(0);
  });
});

test('a directory is carried across: the registry of the images is not asked again', async () => {
  const carried = join(registries.dir, 'carried');
  const config = await anImageSet(
    `${registries.source}/app/one:v1`,
    `${registries.source}/app/two@${index}`,
  );
  const filled = await mirrored('--config', config, '--to', carried);
  expect(filled).toMatchObject({ code: 0, stderr: '' });
  await writeFile(config, '');
  const hosts = ['--insecure-registry', registries.mirror];
  const pushed = await rukpakctl([
    'mirror',
    '--from',
    carried,
    '--to',
    registries.to,
    '--results',
    join(registries.dir, 'results'),
    ...hosts,
  ]);
  expect(pushed).toMatchObject({ code: 0, stderr: '' });
  expect(await digestOn('app/two', index)).toBe(index);
  expect(await digestOn('app/two', `${index.replace(':', '-')}.sig`)).not.toBeNull();
  expect(await digestOn('app/one', 'v1')).not.toBeNull();
});

test('a directory that no run has filled is refused', async () => {
  const { code, stderr } = await mirrored('--from', registries.dir, '--to', registries.to);
  expect(code).toBe(1);
  expect(stderr).toContain(`${registries.dir} is no OCI layout`);
});
