// @module-tag long
import { existsSync, globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBothOpms } from '../helpers/both-opms.ts';
import { writeCatalogDatabase } from '../helpers/catalog-database.ts';
import { oddBundles } from '../helpers/odd-bundles.ts';
import { opmBinary, runOpm } from '../helpers/opm.ts';
import { ourOpm } from '../helpers/our-opm.ts';

const shared = join(import.meta.dirname, '../../../shared');
let dir: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-render-'));
  for (const [name, files] of oddBundles) {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(dir, name, path)), { recursive: true });
      await writeFile(join(dir, name, path), content);
    }
  }
  writeCatalogDatabase(join(dir, 'catalog.db'));
  await writeFile(join(dir, 'text.txt'), 'text');
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function same(...args: readonly string[]): Promise<void> {
  const { ours, theirs } = await runBothOpms(['render', ...args], { cwd: dir });
  expect(ours).toEqual(theirs);
}

const template = ['--alpha-image-ref-template', 'q/{{ .Package }}/{{- .Name -}} :{{.Version}}'];

describe.each([
  ['as it is', []],
  ['in YAML', ['-o', 'yaml']],
  ['migrated', ['--migrate', ...template]],
])('a bundle directory %s', (_title, flags) => {
  test.each([...oddBundles.keys()])('%s', async (name) => {
    await same(...flags, name);
  });

  test.each(realBundles())('%s', async (path) => {
    await same(...flags, path);
  });
});

/** None where the folder of real operators is not beside the checkout. */
function realBundles(): readonly string[] {
  const folder = join(shared, 'bundles');
  if (!existsSync(folder)) return [];
  return globSync('*/**/metadata', { cwd: folder }).map((path) => join(folder, dirname(path)));
}

describe('references', () => {
  test.each([
    ['catalog.db'],
    ['-o', 'yaml', 'catalog.db'],
    ['--migrate-level', 'bundle-object-to-csv-metadata', 'catalog.db'],
    ['0', 'catalog.db', '1'],
    ['text.txt'],
    ['0', '--migrate-level', 'nonsense'],
    ['0', '--migrate', '--migrate-level', 'none'],
    ['-o', 'xml', '0'],
    ['0', '--alpha-image-ref-template', '{{.Nonsense}}'],
    ['0', '--alpha-image-ref-template', '{{'],
    ['0', '--alpha-image-ref-template', '{{}}'],
    ['--help'],
    [],
  ])('%j %j %j', async (...args) => {
    await same(...args.filter((arg) => arg !== undefined));
  });

  test('of nothing', async () => {
    const { ours, theirs } = await runBothOpms(['render', 'Nothing'], { cwd: dir });
    expect(ours.code).toBe(theirs.code);
    expect(ours.stderr).toContain('render reference "Nothing": failed to pull image "Nothing": ');
  });
});

async function filesOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const paths = await readdir(folder, { recursive: true });
  const files = paths.filter((path) => path.includes('.')).toSorted();
  const contents = files.map(async (path) => [path, await readFile(join(folder, path), 'utf8')]);
  return Object.fromEntries(await Promise.all(contents)) as Record<string, string>;
}

describe('opm migrate', () => {
  test.each(['json', 'yaml'])('writes the same files of a database in %s', async (format) => {
    const args = ['migrate', 'catalog.db', format, '-o', format];
    const theirs = await runOpm(args, { cwd: dir });
    const expected = await filesOf(join(dir, format));
    await rm(join(dir, format), { recursive: true });
    const ours = await ourOpm(args, { cwd: dir });
    expect(ours.code).toBe(theirs.code);
    expect(await filesOf(join(dir, format))).toEqual(expected);
  });

  test.each([
    ['0', 'new'],
    ['catalog.db', '.'],
    ['-o', 'xml', 'catalog.db', 'new'],
    ['--migrate-level', 'nonsense', 'catalog.db', 'new'],
    ['catalog.db'],
  ])('refuses %j %j %j in the same words', async (...args) => {
    const { ours, theirs } = await runBothOpms(['migrate', ...args], { cwd: dir });
    expect(ours).toEqual(theirs);
  });
});
