import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeCatalogDatabase } from '../../test/helpers/catalog-database.ts';
import { blobOfValue, writeJson } from '../blobs/index.ts';
import { configOf } from '../load/index.ts';
import { checkEmpty, SpooledCatalog, writeCatalogFiles } from './index.ts';
import { renderDatabase } from './sqlite/sqlite.ts';

let dir = '';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'catalog-files-'));
});

afterEach(() => rm(dir, { recursive: true }));

async function write(...packages: readonly string[]): Promise<void> {
  await writeUntil(new AbortController().signal, packages);
}

async function writeUntil(signal: AbortSignal, packages: readonly string[]): Promise<void> {
  using catalog = new SpooledCatalog(writeJson);
  for (const name of packages) {
    catalog.add(configOf(blobOfValue({ schema: 'olm.package', name, defaultChannel: 'stable' })));
  }
  await writeCatalogFiles(catalog, join(dir, 'out'), { extension: 'json', signal });
}

describe.each(['new', 'empty'])('a catalog in a directory that is %s', (state) => {
  const before = state === 'new' ? [] : ['out'];

  beforeEach(async () => {
    if (state === 'empty') await mkdir(join(dir, 'out'));
  });

  it('has a file for each package', async () => {
    await write('a', 'b');
    const files = (await readdir(dir, { recursive: true })).filter((name) => name.includes('.'));
    expect(files.toSorted()).toEqual(['out/a/catalog.json', 'out/b/catalog.json']);
    expect(await readFile(join(dir, 'out/b/catalog.json'), 'utf8')).toContain('"b"');
  });

  it('is not begun by a stopped command', async () => {
    const stop = new AbortController();
    // After the first directory is made.
    setImmediate(() => stop.abort(new Error('received SIGINT')));
    await expect(writeUntil(stop.signal, ['a', 'b'])).rejects.toThrow('received SIGINT');
    expect(await readdir(dir, { recursive: true })).toEqual(before);
  });

  it.each([
    ['is not local', 'a/../../b', 'invalid package name "a/../../b": must be a single local path'],
    [
      'leads to the file of another',
      'b/../a',
      'invalid package name "b/../a": its file a/catalog.json is that of another package',
    ],
    ['is no name of a file', 'n'.repeat(300), 'ENAMETOOLONG'],
  ])('is not begun where the name of one package %s', async (_case, name, problem) => {
    await expect(write('a', name)).rejects.toThrow(problem);
    expect(await readdir(dir, { recursive: true })).toEqual(before);
  });
});

it('of a database is not written by a stopped command', async () => {
  const database = join(dir, 'index.db');
  writeCatalogDatabase(database);
  const stop = new AbortController();
  setImmediate(() => stop.abort(new Error('received SIGINT')));
  await expect(renderDatabase(database, stop.signal)).rejects.toThrow('received SIGINT');
});

it('is not written beside what a killed command left, and names that', async () => {
  const name = 'out.01234567-89ab-cdef-0123-456789abcdef.partial';
  await mkdir(join(dir, 'out', name), { recursive: true });
  const problem = `: only ${join(dir, 'out', name)}, of a command that was killed or still runs; delete it if none runs`;
  await expect(write('a')).rejects.toThrow(`${join(dir, 'out')} is not empty${problem}`);
  await expect(checkEmpty(join(dir, 'out'))).rejects.toThrow(`must be empty${problem}`);
  await writeFile(join(dir, 'out', 'mine'), '');
  await expect(write('a')).rejects.toThrow(/is not empty$/);
});
