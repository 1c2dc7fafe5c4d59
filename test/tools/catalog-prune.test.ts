// @module-tag long
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Blob } from '../../catalog/blobs/index.ts';
import {
  type PackageSelection,
  pruneCatalog,
  versionsBetween,
  versionsInRange,
} from '../../catalog/compare/index.ts';
import { loadDirectory } from '../../catalog/load/index.ts';
import { opmBinary, runOpm } from '../helpers/opm.ts';
import { collected, randomCatalog, reading } from '../helpers/random-catalog.ts';

let dir: string;

beforeAll(async () => {
  await opmBinary();
  dir = await mkdtemp(join(tmpdir(), 'catalog-prune-'));
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

const selections: readonly (readonly [string, PackageSelection])[] = [
  ['all', { channels: { which: 'all', versions: 'all' } }],
  ['heads', { channels: { which: 'all', versions: 'head' } }],
  ['default', { channels: { which: 'default', versions: 'head' } }],
  ['gaps', of('!1.1.0 !1.3.0 !1.5.0')],
  ['ends', of('<1.1.0 || >=1.6.0')],
  ['between', { channels: { which: 'default', versions: versionsBetween('0.0.2', '1.4.0') } }],
];

function of(range: string): PackageSelection {
  return { channels: { which: 'all', versions: versionsInRange(range) } };
}

async function judged(
  name: string,
  read: () => AsyncIterable<Blob>,
  others: PackageSelection,
): Promise<void> {
  const pruning = pruneCatalog(read, { packages: new Map(), others });
  const blobs = await collected(pruning).catch((error: unknown) => {
    expect(String(error)).toContain('no package of the catalog has the selected');
    return [];
  });
  const folder = join(dir, name);
  await mkdir(folder);
  await writeFile(
    join(folder, 'catalog.json'),
    blobs.map(({ value }) => JSON.stringify(value)).join('\n'),
  );
  const { code, stderr } = await runOpm(['validate', folder]);
  expect(stderr, name).toBe('');
  expect(code, name).toBe(0);
}

test.each(selections)(
  'opm accepts what is left of random catalogs: %s',
  async (name, selection) => {
    for (let seed = 1000; seed < 1030; seed += 1) {
      await judged(`${name}-${seed}`, reading(randomCatalog(seed)), selection);
    }
  },
);

const shared = join(import.meta.dirname, '../../../shared/catalogs/packages');

test.each(selections)('opm accepts what is left of real packages: %s', async (name, selection) => {
  // Published with a bundle that has no schema: opm refuses it, too.
  const packages = (await readdir(shared)).filter((each) => each !== 'slurm-operator');
  for (const each of packages) {
    await judged(`${name}-${each}`, () => loadDirectory(join(shared, each)), selection);
  }
});
