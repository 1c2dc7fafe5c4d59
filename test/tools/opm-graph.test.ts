// @module-tag long
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import { type BothOptions, runBothOpms } from '../helpers/both-opms.ts';
import { writeCatalogDatabase } from '../helpers/catalog-database.ts';
import { oddCatalogs } from '../helpers/odd-catalogs.ts';
import { oddGraphs } from '../helpers/odd-graphs.ts';
import { opmBinary } from '../helpers/opm.ts';
import { ourOpm } from '../helpers/our-opm.ts';

const root = join(import.meta.dirname, '../..');
/** Catalogs as they were published; kept beside the project, not in it. */
const packages = join(root, '../shared/catalogs/packages');

let dir: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'opm-graph-'));
  await cp(join(root, 'deploy/samples/howto'), join(dir, 'samples'), { recursive: true });
  writeCatalogDatabase(join(dir, 'catalog.db'));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function same(args: readonly string[], options: BothOptions = {}): Promise<void> {
  const { ours, theirs } = await runBothOpms(['alpha', ...args], { cwd: dir, ...options });
  expect(ours).toEqual(theirs);
}

async function write(name: string, blobs: readonly JsonObject[]): Promise<string> {
  await mkdir(join(dir, name), { recursive: true });
  const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
  await writeFile(join(dir, name, 'catalog.json'), text);
  return name;
}

describe('opm alpha render-graph', () => {
  test.each([
    [['samples/catalog']],
    [['samples/catalog', 'samples/catalog']],
    [['samples/catalog', '-p', 'greeter']],
    [['samples/catalog', '-p', 'zz']],
    [['samples/catalog', '--minimum-edge', 'greeter.v1.0.1']],
    [['samples/catalog', '--minimum-edge', 'zz']],
    [['samples/catalog', '--minimum-edge', 'greeter.v1.1.0', '-p', 'greeter']],
    [['samples/catalog', '--draw-v0-semantics']],
    [['samples/bundle']],
    [['catalog.db']],
    [['samples/catalog/greeter/catalog.yaml']],
    [[]],
    [['--help']],
  ])('%j', async (args) => {
    await same(['render-graph', ...args]);
  });

  test.each(existsSync(packages) ? readdirSync(packages) : [])('%s', async (name) => {
    await same(['render-graph', join(packages, name)]);
    await same(['render-graph', join(packages, name), '--draw-v0-semantics']);
  });

  test.runIf(existsSync(packages))('all packages in one file', async () => {
    const names = readdirSync(packages);
    // Of several files opm reads the channels in random order; one of them opm refuses.
    const rendered = names.map(
      async (name) => (await ourOpm(['render', join(packages, name)])).stdout,
    );
    await mkdir(join(dir, 'all'));
    await writeFile(join(dir, 'all/catalog.json'), (await Promise.all(rendered)).join(''));
    await same(['render-graph', 'all']);
    await same(['render-graph', 'all', '--draw-v0-semantics']);
  });

  test('odd graphs', { timeout: 300_000 }, async () => {
    for (const { seed, blobs } of oddGraphs(100)) {
      const folder = await write(`graph-${seed}`, blobs);
      await same(['render-graph', folder]);
      await same(['render-graph', folder, '--draw-v0-semantics', '-p', 'p1']);
      const name = blobs.findLast(({ schema }) => schema === 'olm.bundle')?.['name'] as string;
      await same(['render-graph', folder, '--minimum-edge', name]);
    }
  });

  test('320 odd graphs as one, in which each package has its own name', async () => {
    const blobs = oddGraphs(320).flatMap(({ seed, blobs: each }) => {
      const text = JSON.stringify(each).replaceAll(/"(p\d)"/g, `"s${seed}-$1"`);
      return JSON.parse(text) as readonly JsonObject[];
    });
    const folder = await write('graphs', blobs);
    await same(['render-graph', folder]);
    await same(['render-graph', folder, '--draw-v0-semantics']);
  });

  test('odd catalogs', { timeout: 300_000 }, async () => {
    for (const { seed, content } of oddCatalogs(50)) {
      await mkdir(join(dir, `odd-${seed}`));
      await writeFile(join(dir, `odd-${seed}`, 'catalog.yaml'), content);
      await same(['render-graph', `odd-${seed}`, '--draw-v0-semantics']);
    }
  });
});

describe('opm alpha render-template -o mermaid', () => {
  test.each(['basic', 'substitutes'])('%s', async (type) => {
    const blobs = oddGraphs(20)
      .flatMap(({ blobs: each }) => each)
      .slice(0, 300);
    const entries = type === 'basic' ? blobs.filter(({ schema }) => schema !== 'olm.bundle') : [];
    const stdin = JSON.stringify({ schema: `olm.template.${type}`, entries });
    await same(['render-template', type, '-o', 'mermaid'], { stdin });
  });

  test('a catalog as it is', async () => {
    const catalog = await readFile(join(dir, 'samples/catalog/greeter/catalog.yaml'), 'utf8');
    const entries = catalog.split(/^---\n/m).map(
      (blob) =>
        `- ${blob
          .trimEnd()
          .replaceAll('\n', '\n  ')
          .replace(/^# .*\n {2}/, '')}\n`,
    );
    const stdin = `schema: olm.template.substitutes\nentries:\n${entries.join('')}`;
    await same(['render-template', '-o', 'mermaid'], { stdin });
  });
});
