import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pushTestCatalog } from '../helpers/mirrored-catalog.ts';
import { OwnRegistry } from '../helpers/own-registry.ts';
import { type CtlResult, rukpakctl } from '../helpers/rukpakctl.ts';

let root: string;
let dir: string;
let source: OwnRegistry;
let mirror: OwnRegistry;
let catalog: string;
let runs = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rukpak-mirror-'));
  await mkdir(join(root, 'source'));
  await mkdir(join(root, 'mirror'));
  source = await OwnRegistry.start({ dir: join(root, 'source') });
  mirror = await OwnRegistry.start({ dir: join(root, 'mirror') });
  catalog = await pushTestCatalog({ registry: source.host }, [
    { name: 'alpha', versions: ['1.0.0', '1.1.0', '2.0.0'] },
    { name: 'beta', versions: ['0.1.0', '0.2.0'] },
    { name: 'gamma', versions: ['1.0.0'] },
  ]);
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

const to = (): string => `${mirror.host}/run${runs}`;

async function anImageSet(operator: object, more: object = {}): Promise<string> {
  const file = join(dir, 'imageset.yaml');
  const set = {
    kind: 'ImageSetConfiguration',
    apiVersion: 'mirror.openshift.io/v2alpha1',
    mirror: { operators: [{ catalog, ...operator }], ...more },
  };
  await writeFile(file, JSON.stringify(set));
  return file;
}

async function run(...args: readonly string[]): Promise<CtlResult> {
  const hosts = [source.host, mirror.host].flatMap((host) => ['--insecure-registry', host]);
  return await rukpakctl([...args, ...hosts]);
}

async function mirrored(...args: readonly string[]): Promise<CtlResult> {
  return await run('mirror', ...args, '--results', join(dir, 'results'));
}

/** The images of mapping.txt, as they are called below the mirror. */
async function mapped(): Promise<readonly string[]> {
  const text = await readFile(join(dir, 'results/mapping.txt'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(line.indexOf('=') + 1 + to().length + 1).replace(/mirrored-.*/, '…'));
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
  const { code, stdout } = await mirrored('--config', config, '--to', to());
  expect(stdout).toContain(`reading  ${catalog}`);
  expect(stdout).toContain('9 mirrored, 0 failed');
  expect(code).toBe(0);
  expect((await mapped()).toSorted()).toEqual([
    ...imagesOf('alpha', '2.0.0'),
    ...imagesOf('beta', '0.2.0'),
    'catalogs/test:v1',
  ]);
  expect(await bundlesOf(`${to()}/catalogs/test:v1`)).toEqual(['alpha.v2.0.0', 'beta.v0.2.0']);
  const again = await mirrored('--config', config, '--to', to());
  expect(again.stdout).not.toContain('copied');
});

test('a range of versions of a channel, under another name', async () => {
  const channels = [{ name: 'stable', minVersion: '1.1.0' }];
  const packages = [{ name: 'alpha', channels }];
  const set = { packages, targetCatalog: 'own/index', targetTag: 'v7' };
  const { code } = await mirrored('--config', await anImageSet(set), '--to', to());
  expect(code).toBe(0);
  expect(await bundlesOf(`${to()}/own/index:v7`)).toEqual(['alpha.v1.1.0', 'alpha.v2.0.0']);
  const objects = await readFile(join(dir, 'results/clustercatalog.yaml'), 'utf8');
  expect(objects).toContain(`ref: "${to()}/own/index:v7"`);
});

test('all of a catalog is the same image, which the mirror is asked for instead', async () => {
  const { stdout } = await mirrored('--config', await anImageSet({ full: true }), '--to', to());
  expect(stdout).toContain('25 mirrored, 0 failed');
  const manifest = async (image: string) => {
    const url = `http://${image.replace('/', '/v2/').replace(/:([^:]*)$/, '/manifests/$1')}`;
    const accept = 'application/vnd.oci.image.manifest.v1+json';
    return (await fetch(url, { headers: { accept } })).headers.get('docker-content-digest');
  };
  expect(await manifest(`${to()}/catalogs/test:v1`)).toBe(await manifest(catalog));
  const conf = await readFile(join(dir, 'results/registries.conf'), 'utf8');
  expect(conf).toContain(`location = "${source.host}/catalogs/test"`);
});

test('a directory is carried across, with the catalog', async () => {
  const carried = join(dir, 'carried');
  const config = await anImageSet({ packages: [{ name: 'beta' }] });
  expect(await mirrored('--config', config, '--to', carried)).toMatchObject({ code: 0 });
  const { code, stdout } = await mirrored('--from', carried, '--to', to());
  expect(stdout).toContain('5 mirrored, 0 failed');
  expect(code).toBe(0);
  expect(await bundlesOf(`${to()}/catalogs/test:v1`)).toEqual(['beta.v0.2.0']);
});

test('blocked images stay away, and a catalog that cannot be read is named', async () => {
  const more = { blockedImages: [{ name: `${source.host}/beta/operand` }] };
  const blocked = await anImageSet({ packages: [{ name: 'beta' }] }, more);
  await mirrored('--config', blocked, '--to', to());
  expect(await mapped()).not.toContain('beta/operand:v0.2.0');
  const config = await anImageSet({ packages: [{ name: 'delta' }] });
  const { code, stdout } = await mirrored('--config', config, '--to', to());
  expect(code).toBe(1);
  expect(stdout).toContain(`error: ${catalog}: the catalog has no package "delta"`);
});
