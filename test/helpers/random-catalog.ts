import type { JsonObject } from '../../api/json.ts';
import { type Blob, blobOfValue } from '../../catalog/blobs/index.ts';
import { chainProblem } from '../../catalog/validate/index.ts';
import { seededRandom } from './seeded-random.ts';

type Random = (below: number) => number;

interface Entry {
  name: string;
  replaces: string;
  skips: string[];
}

/** A catalog that opm accepts, with dependencies, deprecations and odd graphs; the same for a seed. */
export function randomCatalog(seed: number): readonly Blob[] {
  const fraction = seededRandom(seed);
  const random: Random = (below) => Math.floor(fraction() * below);
  const names = Array.from({ length: 1 + random(5) }, (_, index) => `p${index}`);
  return names
    .flatMap((name) => packageBlobs(name, names, random))
    .map((value) => blobOfValue(value));
}

/** What a catalog is read from, as often as somebody wants. */
export function reading(blobs: readonly Blob[]): () => AsyncGenerator<Blob> {
  return async function* () {
    for (const blob of blobs) yield await Promise.resolve(blob);
  };
}

export async function collected(blobs: AsyncIterable<Blob>): Promise<readonly Blob[]> {
  const all: Blob[] = [];
  for await (const blob of blobs) all.push(blob);
  return all;
}

function packageBlobs(
  name: string,
  packages: readonly string[],
  random: Random,
): readonly JsonObject[] {
  const bundles = Array.from({ length: 1 + random(9) }, (_, index) => `${name}.v1.${index}.0`);
  const channels = ['stable', 'fast', 'beta'].slice(0, 1 + random(3)).map((channel) => ({
    schema: 'olm.channel',
    package: name,
    name: channel,
    entries: entries(bundles, random),
  }));
  const used = new Set(channels.flatMap((channel) => channel.entries.map((entry) => entry.name)));
  const kept = bundles.filter((bundle) => used.has(bundle));
  const deprecated = [...kept, 'stable'].filter(() => random(4) === 0);
  return [
    { schema: 'olm.package', name, defaultChannel: channels[random(channels.length)]?.name ?? '' },
    ...channels.map(({ entries, ...rest }) => ({
      ...rest,
      entries: entries.map((each) => ({ ...each })),
    })),
    ...kept.map((bundle) => bundleBlob(bundle, { name, packages, random })),
    { schema: 'custom', package: name, name: 'readme' },
    {
      schema: 'olm.deprecations',
      package: name,
      entries: deprecated.map((each) => ({
        reference: { schema: each === 'stable' ? 'olm.channel' : 'olm.bundle', name: each },
        message: 'old',
      })),
    },
  ];
}

/** Some of the bundles in a graph that opm accepts: a chain, entries beside it, and more skips. */
function entries(bundles: readonly string[], random: Random): readonly Entry[] {
  for (let tries = 0; tries < 20; tries += 1) {
    const chosen = bundles.filter(() => random(4) > 0);
    const found = chosen.map((name) => ({
      name,
      replaces: random(5) === 0 ? 'gone.v0.0.1' : (chosen[random(chosen.length)] ?? ''),
      skips: chosen.filter(() => random(5) === 0),
    }));
    if (chosen.length > 0 && isValid(found)) return found;
  }
  return chain(bundles, random);
}

function chain(bundles: readonly string[], random: Random): readonly Entry[] {
  const found = bundles.map(
    (name, index): Entry => ({
      name,
      replaces: bundles[index - 1] ?? '',
      skips: [],
    }),
  );
  for (let tries = 0; tries < bundles.length; tries += 1) {
    const [at, above] = [random(bundles.length), random(bundles.length)];
    const before = found.map((entry) => ({ ...entry, skips: [...entry.skips] }));
    found[above]?.skips.push(bundles[at] ?? '');
    const moved = found[random(bundles.length)];
    if (moved !== undefined) moved.replaces = bundles[random(bundles.length)] ?? '';
    if (!isValid(found)) found.splice(0, found.length, ...before);
  }
  return found;
}

function isValid(found: readonly Entry[]): boolean {
  return chainProblem(new Map(found.map((entry) => [entry.name, entry]))) === undefined;
}

function bundleBlob(
  bundle: string,
  { name, packages, random }: { name: string; packages: readonly string[]; random: Random },
): JsonObject {
  const version = bundle.slice(bundle.indexOf('.v') + 2);
  const properties: JsonObject[] = [
    { type: 'olm.package', value: { packageName: name, version } },
    { type: 'olm.gvk', value: { group: 'g', version: 'v1', kind: `K${random(4)}` } },
  ];
  const other = packages[random(packages.length)] ?? '';
  const required = { packageName: other, versionRange: `>=1.${random(9)}.0` };
  const api = { group: 'g', version: 'v1', kind: `K${random(5)}` };
  switch (random(8)) {
    case 0:
      properties.push({ type: 'olm.package.required', value: required });
      break;
    case 1:
      properties.push({ type: 'olm.gvk.required', value: api });
      break;
    case 2:
      properties.push({
        type: 'olm.constraint',
        value: { all: { constraints: [{ package: required }, { gvk: api }] } },
      });
      break;
    case 3:
      properties.push({
        type: 'olm.constraint',
        value: {
          any: { constraints: [{ package: required }, { not: { constraints: [{ gvk: api }] } }] },
        },
      });
      break;
    default:
  }
  return {
    schema: 'olm.bundle',
    package: name,
    name: bundle,
    image: `quay.io/x/${name}:v${version}`,
    properties,
  };
}
