import type { JsonObject } from '../../api/json.ts';
import { seededRandom } from './seeded-random.ts';

/** A catalog whose upgrade graph is odd, as blobs. */
export interface OddGraph {
  readonly seed: number;
  readonly blobs: readonly JsonObject[];
}

/**
 * Catalogs with cycles, entries without bundles, versions that are equal but for build metadata, names
 * that two packages share, odd names, odd ranges, deprecations of anything; the same for the same seed.
 */
export function oddGraphs(count: number, seed = 1): readonly OddGraph[] {
  return Array.from({ length: count }, (_, index) => oddGraph(seed + index));
}

/** Catalogs of one package whose blobs fit together, and whose edges, versions and names do as they like. */
export function crookedGraphs(count: number, seed = 1): readonly OddGraph[] {
  return Array.from({ length: count }, (_, index) => {
    const random = randomOf(seed + index);
    const bundles = Array.from({ length: 1 + random(7) }, (_bundle, at) => `p.v1.${at}.0`);
    const named = channels.filter((_channel, at) => at === 0 || random(4) === 0);
    const blobs = [
      { schema: 'olm.package', name: 'p', defaultChannel: random(6) === 0 ? 'gone' : 'stable' },
      ...named.map((name) => ({
        schema: 'olm.channel',
        package: 'p',
        name,
        entries: bundles.map((each) => entry(each, bundles, random)),
      })),
      ...bundles.map((each) => bundle('p', each, random)),
      deprecations('p', bundles, random),
    ].slice(0, random(2) === 0 ? undefined : -1);
    return { seed: seed + index, blobs };
  });
}

type Random = (below: number) => number;

function randomOf(seed: number): Random {
  const next = seededRandom(seed);
  return (below) => Math.floor(next() * below);
}

const ranges = ['>=1.0.0 <2.0.0', '<1.1.0', '1.x', '!=1.0.0', 'x', '<x', '>=0.0.0', '^1.0.0', ' '];
const channels = ['stable', 'alpha', 'beta', 'candidate', 'a "b"', 'é', 'v1.0', 'x]-->y', 'back\\'];
const suffixes = ['', '', '', '+1', '+2', '-rc.1', '-2'];

function oddGraph(seed: number): OddGraph {
  const random = randomOf(seed);
  const packages = Array.from({ length: 1 + random(4) }, (_, index) => `p${index}`);
  const blobs = packages.flatMap((name) => packageBlobs(name, random));
  return { seed, blobs };
}

function packageBlobs(name: string, random: Random): readonly JsonObject[] {
  const size = random(4) === 0 ? 12 + random(60) : 1 + random(14);
  const bundles = Array.from({ length: size }, (_, index) => bundleName(name, index, random));
  const entries = (): readonly JsonObject[] =>
    bundles.filter(() => random(3) > 0).map((each) => entry(each, bundles, random));
  const named = channels.filter(() => random(3) === 0);
  return [
    { schema: 'olm.package', name, defaultChannel: named[0] ?? 'none' },
    ...named.map((channel) => ({
      schema: 'olm.channel',
      package: name,
      name: channel,
      entries: entries(),
    })),
    ...bundles.filter(() => random(12) > 0).map((each) => bundle(name, each, random)),
    ...(random(2) === 0 ? [] : [deprecations(name, bundles, random)]),
  ];
}

function bundleName(owner: string, index: number, random: Random): string {
  if (random(20) === 0) return `shared.v${index}`;
  return random(20) === 0 ? `odd "${index}"; <b>` : `${owner}.v1.${index}.0`;
}

function entry(name: string, bundles: readonly string[], random: Random): JsonObject {
  const any = (): string =>
    random(10) === 0 ? 'gone.v0' : (bundles[random(bundles.length)] ?? '');
  return {
    name,
    ...(random(3) > 0 && { replaces: any() }),
    ...(random(3) === 0 && { skips: Array.from({ length: 1 + random(4) }, any) }),
    ...(random(5) === 0 && { skipRange: ranges[random(ranges.length)] ?? '' }),
  };
}

function bundle(owner: string, name: string, random: Random): JsonObject {
  const version = `1.${random(9)}.${random(2)}${suffixes[random(suffixes.length)] ?? ''}`;
  const property = { type: 'olm.package', value: { packageName: owner, version } };
  return { schema: 'olm.bundle', package: owner, name, image: 'x', properties: [property] };
}

function deprecations(name: string, bundles: readonly string[], random: Random): JsonObject {
  const references = [
    { schema: 'olm.package' },
    ...channels.map((each) => ({ schema: 'olm.channel', name: each })),
    ...bundles.map((each) => ({ schema: 'olm.bundle', name: each })),
    { schema: 'custom', name: 'x' },
  ];
  const entries = references
    .filter(() => random(4) === 0)
    .map((reference) => ({ reference, message: 'Go on.' }));
  return { schema: 'olm.deprecations', package: name, entries };
}
