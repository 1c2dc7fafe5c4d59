import type {
  Bundle,
  Channel,
  ChannelEntry,
  Deprecation,
  PackageContent,
  Property,
} from '../../resolver/candidates/index.ts';
import type { PackageContents, PackageRequest, Surroundings } from '../../resolver/olm1/index.ts';
import { parseVersion, versionProblem } from '../../resolver/versions/index.ts';

export interface BundleWish {
  readonly image?: string;
  /** Besides its olm.package. */
  readonly properties?: readonly Property[];
}

/** Bundle `p.v1.0.0` with image `registry/p:v1.0.0`. */
export function aBundle(packageName: string, version: string, wish: BundleWish = {}): Bundle {
  const { image = `registry/${packageName}:v${version}`, properties = [] } = wish;
  return {
    name: `${packageName}.v${version}`,
    image,
    version: versionProblem(version) === undefined ? parseVersion(version) : undefined,
    properties: [{ type: 'olm.package', value: { packageName, version } }, ...properties],
  };
}

/** An entry by the version of its bundle; `replaces` and `skips` are versions too. */
export function anEntry(
  packageName: string,
  version: string,
  edges: { replaces?: string; skips?: readonly string[]; skipRange?: string } = {},
): ChannelEntry {
  const { replaces, skips = [], skipRange } = edges;
  const named = (each: string) => `${packageName}.v${each}`;
  return {
    name: named(version),
    skips: skips.map(named),
    ...(replaces === undefined ? {} : { replaces: named(replaces) }),
    ...(skipRange === undefined ? {} : { skipRange }),
  };
}

export interface ContentWish {
  readonly name?: string;
  readonly catalog?: string;
  readonly priority?: number;
  /** Versions, or whole bundles. */
  readonly bundles: readonly (string | Bundle)[];
  /** By default `stable`, in which each bundle replaces the one before it. */
  readonly channels?: Readonly<Record<string, readonly (string | ChannelEntry)[]>>;
  readonly deprecations?: readonly Deprecation[];
}

/** What catalog `a` has of package `p`. */
export function aPackage(wish: ContentWish): PackageContent {
  const { name = 'p', catalog = 'a', priority = 0, deprecations = [] } = wish;
  const bundles = wish.bundles.map((each) =>
    typeof each === 'string' ? aBundle(name, each) : each,
  );
  const channels = Object.entries(wish.channels ?? {}).map(([channel, entries]) => ({
    name: channel,
    entries: entries.map((each) => (typeof each === 'string' ? anEntry(name, each) : each)),
  }));
  return {
    catalog: { name: catalog, namespace: '', priority },
    name,
    defaultChannel: channels[0]?.name ?? 'stable',
    channels: wish.channels === undefined ? [chainOf(bundles)] : channels,
    bundles,
    deprecations,
  };
}

function chainOf(bundles: readonly Bundle[]): Channel {
  const entries = bundles.map(({ name }, index) => {
    const previous = bundles[index - 1]?.name;
    return { name, skips: [], ...(previous === undefined ? {} : { replaces: previous }) };
  });
  return { name: 'stable', entries };
}

export function contentsOf(...packages: readonly PackageContent[]): PackageContents {
  return { of: (packageName) => packages.filter(({ name }) => name === packageName) };
}

/** A request of an Operator for package `p`. */
export function aRequest(wish: Partial<PackageRequest> = {}): PackageRequest {
  return { profile: 'operator', packageName: 'p', channels: [], upgrades: 'semver', ...wish };
}

export const nothingAround: Surroundings = { present: [], unavailable: [] };
