// @module-tag long
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBundleImage, buildCatalogImage } from '../../catalog/images/index.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { opmBinary } from '../helpers/opm.ts';
import { OpmRegistry } from '../helpers/opm-registry.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';

const samples = join(import.meta.dirname, '../../deploy/samples/howto');
let registry: OpmRegistry;
let dir: string;
let images: Readonly<Record<'catalog' | 'bundle', string>>;

beforeAll(async () => {
  await opmBinary();
  registry = await OpmRegistry.start();
  dir = await mkdtemp(join(tmpdir(), 'opm-catalog-images-'));
  await cp(join(samples, 'catalog'), join(dir, 'catalog'), { recursive: true });
  const options = {
    labels: new Map<string, string>(),
    format: 'oci' as const,
    platform: 'linux/amd64',
    signal: new AbortController().signal,
  };
  images = {
    catalog: await registry.pushBuilt(
      'catalog:v1',
      await buildCatalogImage(join(dir, 'catalog'), options),
    ),
    bundle: await registry.pushBuilt(
      'bundle:v1',
      await buildBundleImage(join(samples, 'bundle'), options),
    ),
  };
}, 600_000);

afterAll(async () => {
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

test.each([
  ['render-graph', 'catalog'],
  ['render-graph', 'bundle'],
  ['list packages', 'catalog'],
  ['list channels', 'catalog'],
  ['list bundles', 'catalog'],
  ['list bundles', 'bundle'],
] as const)('opm alpha %s of the image of a %s', async (command, what) => {
  const args = ['alpha', ...command.split(' '), images[what], '--use-http'];
  const { ours, theirs } = await runBothOpms(args, { cwd: dir, env: registry.env });
  expect(ours).toEqual(theirs);
});

test.each(['validate', 'list', 'graph greeter'])(
  'rukpakctl catalog %s says the same of an image as of its directory',
  async (command) => {
    const args = ['catalog', ...command.split(' ')];
    const options = { cwd: dir, env: registry.env };
    const insecure = ['--insecure-registry', registry.host];
    const image = await rukpakctl([...args, images.catalog, ...insecure], options);
    const directory = await rukpakctl([...args, 'catalog'], options);
    expect(image.code).toBe(0);
    expect({ ...image, stdout: image.stdout.replace(images.catalog, 'catalog') }).toEqual(
      directory,
    );
  },
);
