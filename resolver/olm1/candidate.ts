import type { Bundle, PackageContent } from '../candidates/index.ts';
import { compareReleases, compareVersions, versionText } from '../versions/index.ts';

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
