// @module-tag long
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { type BothOptions, runBothOpms } from '../helpers/both-opms.ts';
import { writeCatalogDatabase } from '../helpers/catalog-database.ts';
import { opmBinary } from '../helpers/opm.ts';
import { randomCatalog } from '../helpers/random-catalog.ts';

const root = join(import.meta.dirname, '../..');
/** Catalogs as they were published; kept beside the project, not in it. */
const packages = join(root, '../shared/catalogs/packages');

let dir: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-list-'));
  await cp(join(root, 'deploy/samples/howto'), join(dir, 'samples'), { recursive: true });
  writeCatalogDatabase(join(dir, 'catalog.db'));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function same(args: readonly string[], options: BothOptions = {}): Promise<void> {
  const { ours, theirs } = await runBothOpms(['alpha', 'list', ...args], { cwd: dir, ...options });
  expect(ours).toEqual(theirs);
}

async function sameLists(place: string): Promise<void> {
  for (const what of ['packages', 'channels', 'bundles']) await same([what, place]);
}

async function write(name: string, blobs: readonly JsonObject[]): Promise<string> {
  await mkdir(join(dir, name), { recursive: true });
  const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
  await writeFile(join(dir, name, 'catalog.json'), text);
  return name;
}

describe('the command line', () => {
  test.each([
    [[]],
    [['--help']],
    [['nonsense']],
    [['packages']],
    [['packages', 'samples/catalog', 'greeter']],
    [['packages', '--help']],
    [['packages', 'samples/bundle']],
    [['packages', 'samples/catalog/greeter/catalog.yaml']],
    [['channels', '--help']],
    [['channels', 'samples/catalog', 'greeter']],
    [['channels', 'samples/catalog', '']],
    [['channels', 'samples/catalog', 'zz']],
    [['bundles', '--help']],
    [['bundles', 'samples/catalog', 'greeter']],
    [['bundles', 'samples/catalog', 'zz']],
    [['bundles', 'samples/bundle']],
    [['bundles', 'a', 'b', 'c']],
  ])('opm alpha list %j', async (args) => {
    await same(args);
  });
});

test.each(existsSync(packages) ? readdirSync(packages) : [])('%s', async (name) => {
  await sameLists(join(packages, name));
});

test('a database', async () => {
  await sameLists('catalog.db');
});

/** A package with a bundle in each of its channels, which embeds the objects. */
function packageBlobs(
  name: string,
  channels: readonly string[],
  objects: readonly (JsonObject | string)[] = [],
): readonly JsonObject[] {
  const bundle = `${name}.v1.0.0`;
  const embedded = objects.map((object) => {
    const written = typeof object === 'string' ? object : JSON.stringify(object);
    const data = Buffer.from(written).toString('base64');
    return { type: 'olm.bundle.object', value: { data } };
  });
  const metadata = { type: 'olm.csv.metadata', value: { displayName: 'Of the metadata' } };
  return [
    { schema: 'olm.package', name, defaultChannel: channels[0] ?? '' },
    ...channels.map((channel) => ({
      schema: 'olm.channel',
      package: name,
      name: channel,
      entries: [
        { name: bundle, skips: ['a', 'é漢😀'], skipRange: '<1.0.0', replaces: `${name}.v0` },
      ],
    })),
    {
      schema: 'olm.bundle',
      package: name,
      name: bundle,
      image: `q.io/${name}`,
      properties: [
        { type: 'olm.package', value: { packageName: name, version: '1.0.0' } },
        ...embedded,
        ...(embedded.length === 0 ? [metadata] : []),
      ],
    },
  ];
}

const csv = { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion' };

test('display names and odd names', async () => {
  const spec = { displayName: 'The Operator' };
  const blobs = [
    ...packageBlobs('object', ['stable'], [{ kind: 'Other' }, { ...csv, spec }]),
    ...packageBlobs(
      'yaml',
      ['stable'],
      ['kind: ClusterServiceVersion\nspec: {displayName: YAML é}'],
    ),
    ...packageBlobs(
      'second',
      ['stable'],
      [
        { ...csv, spec },
        { ...csv, spec: { displayName: 'B' } },
      ],
    ),
    ...packageBlobs('wrong', ['stable'], [{ ...csv, spec: { ...spec, keywords: 1 } }]),
    ...packageBlobs('number', ['stable'], [{ ...csv, spec: { displayName: 1 } }]),
    ...packageBlobs('without', ['stable'], [{ kind: 'Other' }]),
    ...packageBlobs('metadata', ['stable', 'a "b"', '漢字', '😀', 'é', '-', '10', '9', 'Z', 'a']),
  ];
  await sameLists(await write('named', blobs));
});

test('what is no valid catalog', async () => {
  const blobs = packageBlobs('a', ['stable']);
  const twice = await write('twice', [...blobs, ...blobs]);
  await sameLists(twice);
  await sameLists(await write('headless', blobs.slice(0, 1)));
  await sameLists(await write('nothing', []));
});

const oddTexts = [
  'stable',
  'a "b"',
  'é漢😀',
  'x]-->y',
  ' ',
  '<b>&',
  'ключ',
  '10',
  "it's",
  'back\\',
];

/**
 * The catalogs of 320 seeds as one, in which each package has a name of its own, and channels and
 * display names are odd, but for control characters, which ours escapes: most of an opm's time is its
 * start.
 */
function manyCatalogs(): readonly JsonObject[] {
  return Array.from({ length: 320 }, (_, seed) => {
    const odd = JSON.stringify(oddTexts[seed % oddTexts.length]);
    const metadata = `{"type": "olm.csv.metadata", "value": {"displayName": ${odd}}}`;
    return randomCatalog(seed).map(({ value }) => {
      const text = JSON.stringify(value)
        .replaceAll(/"(p\d)"/g, `"s${seed}-$1"`)
        .replaceAll('"stable"', () => odd)
        .replace('"properties":[', (found) => `${found}${metadata},`);
      return JSON.parse(text) as JsonObject;
    });
  }).flat();
}

test('320 generated catalogs', { timeout: 300_000 }, async () => {
  const blobs = manyCatalogs();
  await sameLists(await write('many', blobs));
  await same(['bundles', 'many', 's7-p0']);
  const { ours, theirs } = await runBothOpms(['alpha', 'render-graph', 'many'], { cwd: dir });
  expect(ours).toEqual(theirs);
  expect(new Set(ours.stdout.match(/(?<=%% package ")s\d+/g)).size).toBe(320);
});
