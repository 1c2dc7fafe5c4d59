import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CarriedPlaces } from '../../../test/helpers/carried-places.ts';
import { pushTestCatalog } from '../../../test/helpers/mirrored-catalog.ts';
import { pushImage } from '../../../test/helpers/push-image.ts';
import { type ImageSet, mirrorToCarried, mirrorToRegistry, pushCarried } from '../index.ts';

let places: CarriedPlaces;
let dir: string;

beforeEach(async () => {
  places = await CarriedPlaces.start();
  dir = await mkdtemp(join(tmpdir(), 'lost-bundles-'));
});

afterEach(async () => {
  await places.stop();
  await rm(dir, { recursive: true });
});

const registry = () => ({ host: places.mirror.host, prefix: '', insecure: true });

/** The heads of a catalog that has these versions of package `alpha`. */
async function heads(versions: readonly string[]): Promise<ImageSet> {
  const catalog = await pushTestCatalog({ registry: places.source.host }, [
    { name: 'alpha', versions },
  ]);
  const catalogs = [{ catalog, full: false, packages: [] }];
  return { catalogs, additionalImages: [], blockedImages: [], leftOut: [] };
}

async function directly(versions: readonly string[]): Promise<void> {
  const { failures } = await mirrorToRegistry(await heads(versions), registry(), places.options());
  expect([...failures]).toEqual([]);
}

async function carried(versions: readonly string[]): Promise<void> {
  const path = join(dir, versions.join('-'));
  await mirrorToCarried(await heads(versions), path, places.options());
  const { failures } = await pushCarried(path, registry(), places.options());
  expect([...failures]).toEqual([]);
}

test.each([
  ['directly', directly],
  ['with what was carried', carried],
])(
  'a run that replaces a catalog %s names the bundles that it loses',
  { tags: ['slow'] },
  async (_, mirror) => {
    await mirror(['1.0.0']);
    expect(places.notes).toEqual([]);
    await mirror(['1.0.0', '2.0.0']);
    const lost = expect.stringMatching(
      /^note: \S+catalogs\/test:v1 no longer has alpha\.v1\.0\.0: an Operator .* set a minVersion that is not above it, and run the same command again$/,
    );
    expect(places.notes).toEqual([lost]);
    await mirror(['1.0.0', '2.0.0']);
    expect(places.notes).toEqual([lost]);
  },
);

test('another image under the tag of a catalog is replaced, and said', async () => {
  const set = await heads(['1.0.0']);
  const [repository = '', tag = ''] = (set.catalogs[0]?.catalog ?? '')
    .replace(`${places.source.host}/`, '')
    .split(':');
  const layers = [{ files: { 'configs/readme': 'no: [yaml' } }];
  await pushImage({ registry: places.mirror.host, repository, tag, layers });
  await mirrorToRegistry(set, registry(), places.options());
  expect(places.notes).toEqual([
    expect.stringContaining('is replaced, and which bundles it loses is not known: '),
  ]);
});
