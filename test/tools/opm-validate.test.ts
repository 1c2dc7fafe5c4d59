// @module-tag long
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { runBothOpms } from '../helpers/both-opms.ts';
import { oddCatalogs } from '../helpers/odd-catalogs.ts';
import { crookedGraphs } from '../helpers/odd-graphs.ts';
import { opmBinary } from '../helpers/opm.ts';

const root = join(import.meta.dirname, '../..');
/** Catalogs as they were published; kept beside the project, not in it. */
const packages = join(root, '../shared/catalogs/packages');

let dir: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-validate-'));
  await cp(join(root, 'deploy/samples/howto/catalog'), join(dir, 'catalog'), { recursive: true });
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function same(...args: readonly string[]): Promise<void> {
  const { ours, theirs } = await runBothOpms(['validate', ...args], { cwd: dir, normalise: flat });
  expect(ours).toEqual(theirs);
}

/** The lines of a tree of errors with their depths, sorted: opm has them in random order. */
function flat(text: string): string {
  if (!text.includes('invalid index')) return text;
  const unquoted = text.replace(/"(?=,?\n)/g, '');
  const lines = unquoted
    .replaceAll(/[├└]──/g, '+--')
    .replaceAll('│', ' ')
    .split(/\\n|\n/);
  return lines.toSorted().join('\n');
}

async function write(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name, path)), { recursive: true });
    await writeFile(join(dir, name, path), content);
  }
  return name;
}

/** A catalog that is valid but for one property of its bundle. */
function withProperty(property: JsonObject): string {
  const [name, version] = ['p', '1.0.0'];
  const properties = [{ type: 'olm.package', value: { packageName: name, version } }, property];
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: 'p.v1' }] },
    { schema: 'olm.bundle', package: name, name: 'p.v1', image: 'q.io/p', properties },
  ]
    .map((blob) => JSON.stringify(blob))
    .join('\n');
}

interface Row {
  readonly row: string;
  readonly blobs: readonly JsonObject[];
}

const rows = JSON.parse(
  readFileSync(join(root, 'catalog/validate/opm-texts.json'), 'utf8'),
) as readonly Row[];

describe('what opm finds wrong with a catalog', () => {
  test.each(rows.map(({ row, blobs }, index) => ({ row, blobs, index })))(
    '$row',
    async ({ blobs, index }) => {
      const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
      const folder = await write(`row-${index}`, { 'catalog.json': text });
      await same(folder);
      await same(folder, '-o', 'json');
      await same(folder, '-o', 'yaml');
    },
  );
});

describe('files that are no catalog', () => {
  test.each([
    ['no schema', { 'a.yaml': 'name: q\n' }],
    ['an empty document', { 'a.yaml': '# c\n---\nschema: custom\n' }],
    ['blanks', { 'a.yaml': ' \n' }],
    ['nothing', { 'a.yaml': '' }],
    ['a schema that is a number', { 'a.yaml': 'schema: 1\n' }],
    ['a package that is null', { 'a.yaml': 'schema: x\npackage: null\n' }],
    ['a list', { 'a.yaml': '- schema: x\n' }],
    ['a text', { 'a.json': '"text"\n' }],
    ['fields of other types', { 'a.json': '{"schema": "olm.channel", "entries": 1}' }],
    ['an icon that is no base64', { 'a.yaml': 'schema: olm.package\nicon: {base64data: "*"}\n' }],
    ['keys that differ in case', { 'a.yaml': 'schema: x\nSchema: x\n' }],
    ['JSON with a comma too many', { 'a.json': '{"schema": "custom",}' }],
    ['JSON with single quotes', { 'a.json': "{'schema': 'custom'}" }],
    ['JSON with a number that is none', { 'a.json': '{"schema": "custom", "a": NaN}' }],
    ['JSON with a control character', { 'a.json': '{"schema": "custom", "a": "b\u0001c"}' }],
    ['JSON with a tab in a text', { 'a.json': '{"schema": "custom", "a": "b\tc"}' }],
    ['a key that is there twice', { 'a.yaml': 'schema: custom\nname: a\nname: b\n' }],
    ['a reserved schema', { 'a.yaml': 'schema: olm.foo\nname: a\n' }],
    ['a property without type and value', { 'a.json': withProperty({ type: '', value: null }) }],
    ['a bundle with an image of another type', { 'a.json': '{"schema":"olm.bundle","image":1}' }],
    ['deprecations of another type', { 'a.yaml': 'schema: olm.deprecations\nentries: {}\n' }],
    ['a hidden file', { '.hidden/a': 'no: schema' }],
    ['files that are ignored', { '.indexignore': '*.md\n', 'README.md': '# no blob' }],
  ] satisfies [string, Record<string, string>][])('%s', async (name, files) => {
    const folder = await write(name.replaceAll(' ', '-'), files);
    await same(folder);
    const { ours, theirs } = await runBothOpms(['render', folder], { cwd: dir });
    expect(ours).toEqual(theirs);
  });

  test('links', async () => {
    await write('links/target', { 'a.yaml': 'schema: custom\n' });
    await mkdir(join(dir, 'links/dangling'));
    await symlink('../nothing', join(dir, 'links/dangling/link.json'));
    await same('links/dangling');
    await mkdir(join(dir, 'links/folder'));
    await symlink('../target', join(dir, 'links/folder/link'));
    await same('links/folder');
    await mkdir(join(dir, 'links/file'));
    await symlink('../target/a.yaml', join(dir, 'links/file/link.yaml'));
    await same('links/file');
  });
});

describe('JSON that is broken', () => {
  const broken = [
    '{"schema": "custom", "a": "b\u0001c"}',
    '{"schema": "custom" "a"}',
    '{"schema": "custom", "a" 1}',
    '{"schema": "custom", "a": [1 2]}',
    '{"schema": "custom", "a": [1,]}',
    '{"schema": "custom", "a": é}',
    '{"schema": "custom", "a": truth}',
    '{"schema": "custom", "a": nil}',
    '{"schema": "custom", "a": -a}',
    '{"schema": "custom", "a": 1.a}',
    '{"schema": "custom", "a": 1e+}',
    '{"schema": "custom", "a": 01}',
    '{"schema": "custom", "a": "\\x"}',
    '{"schema": "custom", "a": "\\u00g0"}',
    '{"schema": "custom", "a": "b',
    '{"schema": "custom", \'a\': 1}',
    '{"schema": "custom",}',
    '{"schema": "custom"}}',
  ];

  /** A tab in a margin is no YAML either: opm then tells what is wrong with the JSON. */
  test.each(broken)('%j', async (text) => {
    const index = broken.indexOf(text);
    const [first, third] = [`\n\t${text}\n- \t: [`, `${'{"schema": "custom"}\n'.repeat(2)}${text}`];
    await same(await write(`broken-${index}`, { 'a.json': first }));
    await same(await write(`broken-third-${index}`, { 'a.json': third }));
  });
});

describe('the command line', () => {
  test.each([
    [['catalog']],
    [['catalog', '-o', 'json']],
    [['catalog', '-o', 'yaml']],
    [['catalog', '-o', 'xml']],
    [['catalog', '-o', '']],
    [['nothing']],
    [['nothing', '-o', 'json']],
    [['catalog/greeter/catalog.yaml']],
    [[]],
    [['catalog', 'catalog']],
    [['--help']],
  ])('opm validate %j', async (args) => {
    await same(...args);
  });
});

test.each(existsSync(packages) ? readdirSync(packages) : [])('%s', async (name) => {
  await same(join(packages, name));
});

test('odd catalogs', { timeout: 300_000 }, async () => {
  for (const { seed, content } of oddCatalogs(150)) {
    await same(await write(`odd-${seed}`, { 'catalog.yaml': content }));
  }
});

test('crooked upgrade graphs', { timeout: 300_000 }, async () => {
  for (const { seed, blobs } of crookedGraphs(150)) {
    const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
    await same(await write(`crooked-${seed}`, { 'catalog.json': text }));
  }
});
