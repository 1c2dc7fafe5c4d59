// @module-tag long
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildBundleImage, buildCatalogImage } from '../../catalog/images/index.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { writeCatalogDatabase } from '../helpers/catalog-database.ts';
import type { LayerContent } from '../helpers/layer-archive.ts';
import { opmBinary } from '../helpers/opm.ts';
import { OpmRegistry } from '../helpers/opm-registry.ts';
import { type ImageContent, pushImage } from '../helpers/push-image.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import type { ProgramResult } from '../helpers/run-in-process.ts';

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

describe('an image that opm knows by its labels', () => {
  const index = 'operators.operatorframework.io.index.database.v1';

  /** Both opms render it, from one registry. */
  async function rendered(
    name: string,
    { files = { file: '' }, ...more }: Pick<ImageContent, 'labels'> & Pick<LayerContent, 'files'>,
  ): Promise<ProgramResult> {
    const place = { registry: registry.host, repository: name, tag: 'v1' };
    await pushImage({ ...place, layers: [{ files }], ...more });
    const args = ['render', `${registry.host}/${name}:v1`, '--use-http'];
    const normalise = (text: string): string => text.replaceAll(registry.host, 'HOST');
    const options = { cwd: dir, env: registry.env, normalise };
    const { ours, theirs } = await runBothOpms(args, options);
    expect(ours).toEqual(theirs);
    return ours;
  }

  test('a SQLite database is rendered', async () => {
    writeCatalogDatabase(join(dir, 'index.db'));
    const files = { 'database/index.db': await readFile(join(dir, 'index.db')) };
    const labels = { [index]: '/database/index.db' };
    const { code, stdout } = await rendered('database', { labels, files });
    expect(code).toBe(0);
    expect(stdout).toContain('"name": "a.v1"');
  });

  test('of other labels opm names each', async () => {
    const { stderr } = await rendered('labels', { labels: { b: 'x y', a: '1' } });
    expect(stderr).toContain('image type could not be determined, found labels');
  });

  test('without labels', async () => {
    const { stderr } = await rendered('bare', {});
    expect(stderr).toContain('image type could not be determined: image has no labels');
  });
});

test('a template with a bundle directory for an image is refused in the same words', async () => {
  await cp(join(samples, 'bundle'), join(dir, 'a-bundle'), { recursive: true });
  const entries = [{ schema: 'olm.bundle', image: 'a-bundle' }];
  const stdin = JSON.stringify({ schema: 'olm.template.basic', entries });
  const args = ['alpha', 'render-template', 'basic'];
  const { ours, theirs } = await runBothOpms(args, { cwd: dir, env: registry.env, stdin });
  expect(ours).toEqual(theirs);
  expect(ours.stderr).toContain('cannot render bundle directory "a-bundle": not allowed');
});

test('rukpakctl catalog push copies an image to a registry, by its digest', async () => {
  const [layout, to] = ['oci:layout:v1', `${registry.host}/pushed/catalog:v1`];
  const options = { cwd: dir, env: registry.env };
  const built = await rukpakctl(['catalog', 'build', 'catalog', '--to', layout], options);
  expect(built.code, built.stderr).toBe(0);
  const [digest = ''] = /sha256:[0-9a-f]{64}/.exec(built.stdout) ?? [];
  const insecure = ['--insecure-registry', registry.host];
  const pushed = await rukpakctl(['catalog', 'push', layout, to, ...insecure], options);
  expect(pushed).toMatchObject({ code: 0, stderr: '' });
  expect(pushed.stdout).toContain(digest);
  const byDigest = `${registry.host}/pushed/catalog@${digest}`;
  const args = ['render', byDigest, '--use-http'];
  const { ours, theirs } = await runBothOpms(args, options);
  expect(ours).toEqual(theirs);
  expect(ours.stdout).toBe((await runBothOpms(['render', 'catalog'], options)).theirs.stdout);
});
