// @module-tag long
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBothOpms } from '../helpers/both-opms.ts';
import { oddCatalogs } from '../helpers/odd-catalogs.ts';
import { oddDirectories } from '../helpers/odd-directories.ts';
import { oddYamlCatalogs } from '../helpers/odd-yaml.ts';
import { opmBinary } from '../helpers/opm.ts';
import type { ProgramResult } from '../helpers/run-in-process.ts';

/** Catalogs as they were published; kept beside the project, not in it. */
const published = join(import.meta.dirname, '../../../shared/catalogs/packages');
const packages = existsSync(published) ? readdirSync(published) : [];
/** Cut off in the middle of a blob: opm refuses it, and every folder that it lies in. */
const cutOff = 'slurm-operator';
/** Catalogs that one opm renders. */
const atOnce = 20;

let dir: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-catalogs-'));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** Whether both succeed. */
async function same(args: readonly string[], about = ''): Promise<boolean> {
  const { ours, theirs } = await runBothOpms(args, { cwd: dir });
  expect(withoutSyntax(ours), about).toEqual(withoutSyntax(theirs));
  return ours.code === 0;
}

/** What is no YAML is refused by both, each in the words of its parser. */
function withoutSyntax({ stderr, ...result }: ProgramResult): ProgramResult {
  return { ...result, stderr: stderr.replace(/(?<=converting YAML to JSON: yaml: ).*/, '') };
}

describe('a catalog that was published', () => {
  test.each(packages)('%s is rendered and migrated byte by byte', async (name) => {
    const directory = join(published, name);
    for (const flags of [[], ['-o', 'yaml'], ['--migrate'], ['--migrate', '-o', 'yaml']]) {
      await same(['render', directory, ...flags]);
    }
  });

  test.each(packages)('%s becomes the same templates', async (name) => {
    const file = join(published, name, 'catalog.yaml');
    for (const kind of ['basic', 'substitutes']) {
      await same(['alpha', 'convert-template', kind, file]);
      await same(['alpha', 'convert-template', kind, file, '-o', 'yaml']);
    }
  });

  test.runIf(packages.length > 0)('is rendered with all others as one', async () => {
    for (const name of packages.filter((each) => each !== cutOff)) {
      await cp(join(published, name), join(dir, 'all', name), { recursive: true });
    }
    await same(['render', 'all']);
    await same(['render', 'all', '-o', 'yaml']);
    await cp(join(published, cutOff), join(dir, 'all', cutOff), { recursive: true });
    await same(['render', 'all']);
  });
});

describe('a catalog in one file', () => {
  test.each([
    ['320 of odd keys, numbers and texts', oddCatalogs(320)],
    ['200 in the block style of YAML', oddYamlCatalogs(200)],
  ])('%s are rendered byte by byte', async (_title, catalogs) => {
    const read: string[] = [];
    for (const { seed, content } of catalogs) {
      const name = `odd-${seed}`;
      await mkdir(join(dir, name), { recursive: true });
      await writeFile(join(dir, name, 'catalog'), content);
      const about = `seed ${seed}: ${content}`;
      if (await same(['render', name], about)) {
        await same(['alpha', 'convert-template', 'basic', `${name}/catalog`, '-o', 'yaml'], about);
        read.push(name);
      } else await same(['render', name, '-o', 'yaml'], about);
    }
    // Most of an opm's time is its start.
    for (let at = 0; at < read.length; at += atOnce) await sameInYaml(read.slice(at, at + atOnce));
  });
});

/** Renders catalogs one after the other only if they differ, to name the one that does. */
async function sameInYaml(names: readonly string[]): Promise<void> {
  const all = ['render', ...names, '-o', 'yaml'];
  const { ours, theirs } = await runBothOpms(all, { cwd: dir });
  if (theirs.code === 0 && isDeepStrictEqual(ours, theirs)) return;
  for (const name of names) await same(['render', name, '-o', 'yaml'], name);
  expect(ours, names.join(' ')).toEqual(theirs);
}

test('100 directories with .indexignore files and odd names are read alike', async () => {
  for (const { seed, files } of oddDirectories(100)) {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(dir, `d${seed}`, path)), { recursive: true });
      await writeFile(join(dir, `d${seed}`, path), content);
    }
    await same(['render', `d${seed}`], JSON.stringify({ seed, files }, null, 2));
  }
});
