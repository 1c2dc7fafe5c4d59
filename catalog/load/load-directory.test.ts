import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TerminalError } from '../../core/errors.ts';
import type { BlobError } from '../blobs/index.ts';
import { loadDirectory, toConfig } from './index.ts';

let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'catalog-'));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

async function schemas(options?: {
  readonly package?: string;
  readonly signal?: AbortSignal;
}): Promise<string[]> {
  const found: string[] = [];
  for await (const blob of loadDirectory(root, options)) found.push(blob.schema);
  return found;
}

describe('a catalog in a directory', () => {
  test('is every file in lexical order, hidden ones and linked ones too', async () => {
    await write({ 'b.json': '{"schema":"b"}', '.hidden/x': 'schema: h', 'a/z': 'schema: az' });
    await symlink(join(root, 'b.json'), join(root, 'link'));
    expect(await schemas()).toEqual(['h', 'az', 'b', 'b']);
  });

  test('is read no further than a stop amid a large file', async () => {
    await write({ 'a.json': '{"schema":"a"}\n'.repeat(200_000) });
    const stop = new AbortController();
    setImmediate(() => stop.abort(new Error('received SIGINT')));
    await expect(schemas({ signal: stop.signal })).rejects.toThrow('received SIGINT');
  });

  test('is read no further than a stop amid many lines of .indexignore', async () => {
    const files = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, '']));
    await write({ ...files, '.indexignore': `*\n${'x*y\n'.repeat(5000)}` });
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error('received SIGINT')), 20);
    await expect(schemas({ signal: stop.signal })).rejects.toThrow('received SIGINT');
  });

  test('may have no file at all, or empty ones', async () => {
    await write({ empty: '' });
    expect(await schemas()).toEqual([]);
  });

  test('names a link to a folder and one that leads nowhere as opm does', async () => {
    await symlink(tmpdir(), join(root, 'linkdir'));
    await expect(schemas()).rejects.toThrow(`read ${root}/linkdir: is a directory`);
    await rm(join(root, 'linkdir'));
    await symlink('/nowhere', join(root, 'link.json'));
    await expect(schemas()).rejects.toThrow('open link.json: no such file or directory');
    await rm(join(root, 'link.json'));
    await symlink('link.json', join(root, 'link.json'));
    await expect(schemas()).rejects.toThrow(
      new TerminalError('open link.json: too many levels of symbolic links'),
    );
  });

  test('has no named pipes: a read would wait for a writer, and nothing could stop it', async () => {
    await write({ 'a.json': '{"schema":"a"}' });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await symlink('pipe', join(root, 'link'));
    const refused = 'link is a named pipe: a catalog consists of files';
    await expect(schemas()).rejects.toThrow(new TerminalError(refused));
    await rm(join(root, 'link'));
    await expect(schemas()).rejects.toThrow(refused.replace('link', 'pipe'));
  });

  test('has no devices: a link to one that never ends would be read without a limit', async () => {
    await symlink('/dev/null', join(root, 'empty'));
    expect(await schemas()).toEqual([]);
    await symlink('/dev/zero', join(root, 'endless'));
    const refused = 'endless is a device: a catalog consists of files';
    await expect(schemas()).rejects.toThrow(new TerminalError(refused));
  });

  test('leaves out what .indexignore files say, the last line that matches deciding', async () => {
    await write({
      '.indexignore': '**/*\n!*.json\n!*.yaml\n**/objects/*.json\n# c\n',
      'README.md': 'text',
      'a/catalog.yaml': 'schema: yaml',
      'a/objects/x.json': '{"schema":"object"}',
      'b/.indexignore': '!keep\n/x.yaml\n',
      'b/keep': 'schema: keep',
      'b/x.yaml': 'schema: x',
      'b/c/x.yaml': 'schema: below',
    });
    expect(await schemas()).toEqual(['yaml', 'below', 'keep']);
  });

  test('reads one package alone where asked', async () => {
    await write({
      f: '{"schema":"olm.package","name":"a"}{"schema":"x","package":"b"}{"schema":"y"}',
    });
    expect(await schemas({ package: 'a' })).toEqual(['olm.package']);
  });

  test('says in which file and line a blob is that cannot be read', async () => {
    await write({ 'p/catalog.yaml': 'schema: a\n---\nschema: b\n---\nname: c\n' });
    const error = await schemas().catch((thrown: unknown) => thrown as BlobError);
    expect(error).toMatchObject({
      message: `object '{"name":"c"}\n' is missing root schema field`,
      place: { file: 'p/catalog.yaml', line: 5 },
    });
  });

  test('takes patterns that would take other matchers for ever', async () => {
    await write({ '.indexignore': `${'a*'.repeat(60)}b\n`, ['a'.repeat(200)]: 'schema: a' });
    expect(await schemas()).toEqual(['a']);
  });
});

const shared = join(import.meta.dirname, '../../../shared/catalogs/packages');
/** Published with a bundle that has no schema: opm refuses it, too. */
const broken = 'slurm-operator';

test('real catalogs are read whole, and each package has its channels and bundles', async () => {
  const packages = (await readdir(shared)).filter((name) => name !== broken);
  const configs = await Promise.all(
    packages.map(async (name) => toConfig(loadDirectory(join(shared, name)))),
  );
  for (const [index, config] of configs.entries()) {
    const name = packages[index];
    expect(config.packages.map((each) => each.name)).toEqual([name]);
    expect(config.channels.every((channel) => channel.package === name)).toBe(true);
    expect(config.bundles.every((bundle) => bundle.package === name && bundle.image)).toBe(true);
  }
});

test('a real catalog that opm refuses is refused with the same text', async () => {
  const loading = toConfig(loadDirectory(join(shared, broken)));
  await expect(loading).rejects.toThrow(
    /^object '\{"image":"quay.io.*\n' is missing root schema field$/,
  );
});
