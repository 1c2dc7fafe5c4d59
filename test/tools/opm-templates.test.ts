// @module-tag long
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildBundleImage, buildCatalogImage } from '../../catalog/images/index.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { oddBundles } from '../helpers/odd-bundles.ts';
import { opmBinary } from '../helpers/opm.ts';
import { OpmRegistry } from '../helpers/opm-registry.ts';

const versions = ['1.0.0', '1.0.1', '1.1.0', '1.1.1-rc1', '2.0.0', '2.1.0', '2.1.0+b'];
const icon = '  icon: [{base64data: eA==, mediatype: image/png}]\n  description: About a\n';

let dir: string;
let registry: OpmRegistry;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-templates-'));
  registry = await OpmRegistry.start();
  for (const version of versions) await push(version);
  await writeFile(join(dir, 'catalog.json'), catalog);
  await mkdir(join(dir, 'catalog'));
  await writeFile(join(dir, 'catalog/catalog.json'), catalog);
  await registry.pushBuilt('catalog:v1', await buildCatalogImage(join(dir, 'catalog'), building));
});

afterAll(async () => {
  await registry?.stop();
  await rm(dir, { recursive: true, force: true });
});

const { signal } = new AbortController();
const building = {
  labels: new Map<string, string>(),
  format: 'oci',
  platform: 'linux/amd64',
  signal,
} as const;

async function push(version: string): Promise<void> {
  const folder = join(dir, `bundle-${version}`);
  for (const [path, content] of Object.entries(oddBundles.get('0') ?? {})) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(
      join(folder, path),
      `${content.replaceAll('1.0.0', version)}${path.includes('csv') ? icon : ''}`,
    );
  }
  await registry.pushBuilt(
    `a:${version.replace('+', '_')}`,
    await buildBundleImage(folder, building),
  );
}

const catalog = [
  { schema: 'olm.package', name: 'a', defaultChannel: 's' },
  {
    schema: 'olm.channel',
    name: 's',
    package: 'a',
    entries: [
      { name: 'a.v1.0.0', skipRange: '<1.0.0' },
      { name: 'a.v1.0.1', replaces: 'a.v1.0.0' },
    ],
  },
  ...['1.0.0', '1.0.1'].map((version) => ({
    schema: 'olm.bundle',
    name: `a.v${version}`,
    package: 'a',
    image: 'q/<a>',
    properties: [
      { type: 'olm.package', value: { packageName: 'a', version } },
      { type: 'x', value: '<&>' },
    ],
  })),
  { schema: 'custom', b: 1.5, a: [] },
]
  .map((blob) => JSON.stringify(blob).replace('q/<a>', 'q/a'))
  .join('\n');

async function same(args: readonly string[], stdin = ''): Promise<void> {
  const host = registry.host;
  const text = stdin.replaceAll('HOST', host);
  // Which of two versions that cannot be ordered opm names is chance.
  const normalise = (output: string) => output.replaceAll(/"2\.1\.0(?:\+b)?" cannot/g, 'it cannot');
  const options = { cwd: dir, env: registry.env, stdin: text, normalise };
  const flags = args.includes('--help') || args.includes('convert-template') ? [] : ['--use-http'];
  const named = [...args, ...flags].map((arg) => arg.replaceAll('HOST', host));
  const { ours, theirs } = await runBothOpms(named, options);
  expect(ours).toEqual(theirs);
}

function bundles(...tags: readonly string[]): string {
  return `{bundles: [${tags.map((tag) => `{image: 'HOST/a:${tag}'}`).join(', ')}]}`;
}

const semver = [
  `stable: ${bundles('1.0.0', '1.0.1', '1.1.0')}`,
  `Stable: ${bundles('2.1.0', '2.0.0', '1.1.1-rc1', '1.0.0')}\nGenerateMajorChannels: true`,
  `generateMajorChannels: true\ngenerateMinorChannels: true\ndefaultChannelTypePreference: major\nfast: ${bundles('1.0.0', '2.0.0')}\ncandidate: ${bundles('1.0.1', '2.1.0', '1.0.0')}`,
  `stable: ${bundles('2.1.0', '2.1.0_b')}`,
  `stable: ${bundles('1.0.0', '1.0.0')}`,
  'foo: 1',
  'stable: {bundle: []}',
  `stable: ${bundles('1.0.0')}\nfast: {}\nstable: {bundles: [{image: x, image: y}]}`,
  'stable: x',
  'generateMajorChannels: x',
  'generateMajorChannels: true\ndefaultChannelTypePreference: minor',
  'defaultChannelTypePreference: x',
  '',
];

describe('semver', () => {
  test.each(semver)('%s', async (fields) => {
    await same(
      ['alpha', 'render-template', 'semver', '-o', 'yaml'],
      `schema: olm.semver\n${fields}\n`,
    );
  });
});

const bundle = `{schema: olm.bundle, image: 'HOST/a:1.0.0'}`;
const basic = [
  `[{schema: olm.package, name: a, defaultChannel: s}, ${bundle}, {schema: custom, x: 1}]`,
  `[{schema: olm.bundle, image: 'HOST/a:1.0.0', package: a}]`,
  `[{schema: olm.bundle, name: a}]`,
  `[{schema: olm.bundle, image: 'HOST/catalog:v1'}]`,
  '[{name: x}]',
  'x',
  '[]',
  'null',
];

describe('basic', () => {
  test.each(basic)('%s', async (entries) => {
    await same(
      ['alpha', 'render-template', '-'],
      `schema: olm.template.basic\nentries: ${entries}\n`,
    );
  });
});

function substitution(name: string, base: string): string {
  return `{name: '${name}', base: '${base}'}`;
}

const substitutions = [
  `[${substitution('HOST/a:1.1.0', 'a.v1.0.1')}]`,
  `[${substitution('HOST/a:1.1.0', 'a.v1.0.0')}]`,
  `[${substitution('HOST/a:1.0.0', 'a.v1.0.1')}]`,
  `[${substitution('HOST/a:1.1.0', 'a.v9')}]`,
  `[${substitution('', 'a.v1.0.1')}]`,
  `[${substitution('x', '')}]`,
  `[${substitution('x', 'x')}]`,
  `[${substitution('HOST/a:1.1.0', 'a.v1.0.1')}, ${substitution('HOST/a:2.0.0', 'a.v1.0.1')}]`,
  `[${substitution('HOST/a:1.1.0', 'a.v1.0.0')}, ${substitution('HOST/a:1.1.0', 'a.v1.0.1')}]`,
  `[${substitution('HOST/a:1.1.0', 'a.v1.0.1')}, ${substitution('HOST/a:2.0.0', 'a.v1.1.0')}]`,
  '[]',
];

describe('substitutes', () => {
  test.each(substitutions)('%s', async (list) => {
    const entries = catalog.split('\n').join(', ');
    const text = `schema: olm.template.substitutes\nentries: [${entries}]\nsubstitutions: ${list}\n`;
    await same(['alpha', 'render-template', 'substitutes', '-'], text);
  });

  test('of a catalog that is none', async () => {
    const text = 'schema: olm.template.substitutes\nentries: [{schema: olm.package, name: a}]\n';
    await same(['alpha', 'render-template'], text);
  });
});

describe('templates', () => {
  test.each([
    ['', 'schema: x\n'],
    ['', 'x: y\n'],
    ['', 'schema: 1\n'],
    ['', ''],
    ['basic', 'schema: olm.semver\n'],
    ['nonsense', ''],
    ['nonsense file', ''],
    ['-o xml', 'schema: olm.semver\n'],
    ['--migrate-level x', 'schema: olm.semver\n'],
    ['--help', ''],
    ['a b c', ''],
  ])('render-template %s with %j', async (args, stdin) => {
    await same(['alpha', 'render-template', ...args.split(' ').filter(Boolean)], stdin);
  });
});

describe('convert-template', () => {
  test.each([
    ['basic', 'catalog.json'],
    ['basic', '-o', 'yaml', 'catalog.json'],
    ['substitutes', 'catalog.json'],
    ['substitutes', '-o', 'yaml', 'catalog.json'],
    ['basic'],
    ['basic', '-o', 'yaml'],
    ['basic', 'nothing'],
    ['basic', '-o', 'xml'],
    ['basic', '--help'],
    ['--help'],
    [],
  ])('%j %j %j %j', async (...args) => {
    await same(['alpha', 'convert-template', ...args.filter((arg) => arg !== undefined)]);
  });
});

describe('images', () => {
  test.each([['HOST/a:1.0.0'], ['HOST/catalog:v1', '-o', 'yaml'], ['HOST/a:1.0.0', '--migrate']])(
    'render %j %j %j',
    async (...args) => {
      await same(['render', ...args.filter((arg) => arg !== undefined)]);
    },
  );
});
