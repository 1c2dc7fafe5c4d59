import type { Bundle, PackageContent } from '../candidates/index.ts';
import {
  compareVersions,
  type Identifier,
  parseIdentifier,
  type Version,
  VersionError,
  versionText,
  zeroVersion,
} from '../versions/index.ts';

/** A bundle of the requested package, and the catalog that has it. */
export interface Candidate {
  readonly bundle: Bundle;
  readonly content: PackageContent;
  readonly isDeprecated: boolean;
}

/** All bundles of a package, by the catalog's name and then in its order; of duplicates, the first. */
export function candidatesOf(contents: readonly PackageContent[]): readonly Candidate[] {
  return contents.flatMap((content) => {
    const bundles = new Map<string, Bundle>();
    for (const bundle of content.bundles) {
      if (!bundles.has(bundle.name)) bundles.set(bundle.name, bundle);
    }
    const deprecated = new Set(
      content.deprecations.flatMap(({ schema, name }) => (schema === 'olm.bundle' ? [name] : [])),
    );
    return [...bundles.values()].map((bundle) => {
      return { bundle, content, isDeprecated: deprecated.has(bundle.name) };
    });
  });
}

/** Highest version first, build metadata ignored; those without a valid version last. */
export function byVersion(a: Candidate, b: Candidate): number {
  const [left, right] = [a.bundle.version, b.bundle.version];
  if (left !== undefined && right !== undefined) return compareVersions(right, left);
  return Number(left === undefined) - Number(right === undefined);
}

/** As `byVersion`; of equal versions, the highest release first. */
export function byRelease(a: Candidate, b: Candidate): number {
  const [left, right] = [a.bundle.version, b.bundle.version];
  return left !== undefined && right !== undefined ? compareReleases(right, left) : byVersion(a, b);
}

/**
 * Compares versions, and then build metadata where it can be the release of a bundle; any release
 * is higher than none.
 */
export function compareReleases(a: Version, b: Version): number {
  const order = compareVersions(a, b);
  if (order !== 0) return order;
  const [left, right] = [releaseOf(a), releaseOf(b)];
  if (left.length === 0 || right.length === 0) return left.length - right.length;
  return compareVersions(
    { ...zeroVersion, prerelease: left },
    { ...zeroVersion, prerelease: right },
  );
}

const longestRelease = 20;

function releaseOf({ build }: Version): readonly Identifier[] {
  if (build.length === 0 || build.join('.').length > longestRelease) return [];
  try {
    return build.map(parseIdentifier);
  } catch (error) {
    if (error instanceof VersionError) return [];
    throw error;
  }
}

/** The first one of the lowest by an order; undefined for an empty list. */
export function first<T>(values: Iterable<T>, order: (a: T, b: T) => number): T | undefined {
  let best: T | undefined;
  for (const value of values) if (best === undefined || order(value, best) < 0) best = value;
  return best;
}

/** The version for people, or the name of a bundle without a valid one. */
export function label({ bundle }: Pick<Candidate, 'bundle'>): string {
  return bundle.version === undefined ? bundle.name : versionText(bundle.version);
}
