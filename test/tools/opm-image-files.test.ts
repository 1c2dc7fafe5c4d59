// @module-tag long
import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runBothOpmsApart } from '../helpers/both-opms.ts';
import { oddBundles } from '../helpers/odd-bundles.ts';
import { opmBinary } from '../helpers/opm.ts';

/** As they were published; kept beside the project, not in it. */
const shared = join(import.meta.dirname, '../../../shared');
const catalogs = join(shared, 'catalogs');
const packages = existsSync(catalogs) ? readdirSync(join(catalogs, 'packages')) : [];
const bundles = globSync('*/**/metadata', { cwd: join(shared, 'bundles') }).map(dirname);

beforeAll(async () => {
  await opmBinary();
});

/** Runs both beside copies of a folder; what they write there is the same. */
async function same(copyOf: string, args: readonly string[]): Promise<readonly string[]> {
  const { ours, theirs } = await runBothOpmsApart(args, { copyOf });
  expect(ours).toEqual(theirs);
  return Object.keys(ours.files);
}

describe('opm generate dockerfile of catalogs that were published', () => {
  test.each(packages)('for %s writes the same', async (name) => {
    const folder = join(catalogs, 'packages');
    expect(await same(folder, ['generate', 'dockerfile', name])).toContain(`${name}.Dockerfile`);
    const flags = ['-i', 'scratch', '-b', 'example.com/opm:v1', '-l', `package=${name},a=b`];
    expect(await same(folder, ['generate', 'dockerfile', `./${name}/`, ...flags])).toContain(
      `${name}.Dockerfile`,
    );
  });
});

test('opm alpha bundle generate writes the same for odd bundles', async () => {
  const generate = ['alpha', 'bundle', 'generate', '-d', 'manifests'];
  for (const [name, files] of oddBundles) {
    for (const args of [generate, [...generate, '-p', 'example', '-c', 'stable']]) {
      const { ours, theirs } = await runBothOpmsApart(args, { files });
      expect(ours, name).toEqual(theirs);
    }
  }
});

describe('opm alpha bundle generate of operators that were published', () => {
  test.each(bundles)('for %s writes the same', async (version) => {
    const folder = join(shared, 'bundles', version);
    const generate = ['alpha', 'bundle', 'generate', '-d', 'manifests'];
    const named = ['-p', 'example', '-c', 'fast,stable', '-e', 'stable'];
    await same(folder, generate);
    expect(await same(folder, [...generate, ...named])).toContain('bundle.Dockerfile');
    expect(await same(folder, [...generate, ...named, '-u', 'out'])).toContain(
      'out/metadata/annotations.yaml',
    );
  });
});
