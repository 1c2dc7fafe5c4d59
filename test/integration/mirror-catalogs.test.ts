import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { MirrorRegistries } from '../helpers/mirror-registries.ts';
import { pushTestCatalog } from '../helpers/mirrored-catalog.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';

let registries: MirrorRegistries;
let catalog: string;

beforeAll(async () => {
  registries = await MirrorRegistries.start();
  catalog = await pushTestCatalog({ registry: registries.source }, [
    { name: 'alpha', versions: ['1.0.0', '1.1.0', '2.0.0'] },
    { name: 'beta', versions: ['0.1.0', '0.2.0'] },
    { name: 'gamma', versions: ['1.0.0'] },
  ]);
});

afterAll(async () => await registries.stop());

beforeEach(async () => await registries.nextTest());

async function anImageSet(operator: object, more: object = {}): Promise<string> {
  return await registries.imageSet({ operators: [{ catalog, ...operator }], ...more });
}

async function run(...args: readonly string[]): Promise<CtlResult> {
  return await rukpakctl([...args, ...registries.flags]);
}

async function mirrored(...args: readonly string[]): Promise<CtlResult> {
  return await run('mirror', ...args, '--results', join(registries.dir, 'results'));
}

/** The images of mapping.txt, as they are called below the mirror. */
async function mapped(): Promise<readonly string[]> {
  const text = await readFile(join(registries.dir, 'results/mapping.txt'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line.slice(line.indexOf('=') + 1 + registries.to.length + 1).replace(/mirrored-.*/, '…'),
    );
}

/** Names of the bundles of a catalog on the mirror. */
async function bundlesOf(image: string): Promise<readonly string[]> {
  const { stdout, stderr } = await run('catalog', 'render', image, '--output', 'json');
  expect(stderr).toBe('');
  return [...stdout.matchAll(/"schema": "olm.bundle",\s*"name": "([^"]+)"/g)].map(
    ([, name = '']) => name,
  );
}

function imagesOf(name: string, version: string): readonly string[] {
  return [
    'bundle:…',
    ...['operand', 'operator', 'related'].map((part) => `${part}:v${version}`),
  ].map((image) => `${name}/${image}`);
}

test('heads of packages come with all images that their bundles name, and the catalog has no more', async () => {
  const config = await anImageSet({ packages: [{ name: 'alpha' }, { name: 'beta' }] });
  const { code, stdout } = await mirrored('--config', config, '--to', registries.to);
  expect(stdout).toContain(`reading  ${catalog}`);
  expect(stdout).toContain('9 mirrored, 0 failed');
  expect(code).toBe(0);
  expect((await mapped()).toSorted()).toEqual([
    ...imagesOf('alpha', '2.0.0'),
    ...imagesOf('beta', '0.2.0'),
    'catalogs/test:v1',
  ]);
  expect(await bundlesOf(`${registries.to}/catalogs/test:v1`)).toEqual([
    'alpha.v2.0.0',
    'beta.v0.2.0',
  ]);
  const again = await mirrored('--config', config, '--to', registries.to);
  expect(again.stdout).not.toContain('copied');
});

test('a range of versions of a channel, under another name', async () => {
  const channels = [{ name: 'stable', minVersion: '1.1.0' }];
  const packages = [{ name: 'alpha', channels }];
  const set = { packages, targetCatalog: 'own/index', targetTag: 'v7' };
  const { code } = await mirrored('--config', await anImageSet(set), '--to', registries.to);
  expect(code).toBe(0);
  expect(await bundlesOf(`${registries.to}/own/index:v7`)).toEqual([
    'alpha.v1.1.0',
    'alpha.v2.0.0',
  ]);
  const objects = await readFile(join(registries.dir, 'results/clustercatalog.yaml'), 'utf8');
  expect(objects).toContain(`ref: "${registries.to}/own/index:v7"`);
});

test('all of a catalog is the same image, which the mirror is asked for instead', async () => {
  const { stdout } = await mirrored(
    '--config',
    await anImageSet({ full: true }),
    '--to',
    registries.to,
  );
  expect(stdout).toContain('25 mirrored, 0 failed');
  const manifest = async (image: string) => {
    const url = `http://${image.replace('/', '/v2/').replace(/:([^:]*)$/, '/manifests/$1')}`;
    const accept = 'application/vnd.oci.image.manifest.v1+json';
    return (await fetch(url, { headers: { accept } })).headers.get('docker-content-digest');
  };
  expect(await manifest(`${registries.to}/catalogs/test:v1`)).toBe(await manifest(catalog));
  const conf = await readFile(join(registries.dir, 'results/registries.conf'), 'utf8');
  expect(conf).toContain(`location = "${registries.source}/catalogs/test"`);
});

test('a directory is carried across, with the catalog', async () => {
  const carried = join(registries.dir, 'carried');
  const config = await anImageSet({ packages: [{ name: 'beta' }] });
  expect(await mirrored('--config', config, '--to', carried)).toMatchObject({ code: 0 });
  const { code, stdout } = await mirrored('--from', carried, '--to', registries.to);
  expect(stdout).toContain('5 mirrored, 0 failed');
  expect(code).toBe(0);
  expect(await bundlesOf(`${registries.to}/catalogs/test:v1`)).toEqual(['beta.v0.2.0']);
});

test('blocked images stay away, and a catalog that cannot be read is named', async () => {
  const more = { blockedImages: [{ name: `${registries.source}/beta/operand` }] };
  const blocked = await anImageSet({ packages: [{ name: 'beta' }] }, more);
  await mirrored('--config', blocked, '--to', registries.to);
  expect(await mapped()).not.toContain('beta/operand:v0.2.0');
  const config = await anImageSet({ packages: [{ name: 'delta' }] });
  const { code, stdout } = await mirrored('--config', config, '--to', registries.to);
  expect(code).toBe(1);
  expect(stdout).toContain(`error: ${catalog}: the catalog has no package "delta"`);
});
