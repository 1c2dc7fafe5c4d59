import { goQuote } from '../../api/go-quote.ts';
import { isInRange, parseRange, rangeProblem } from '../versions/index.ts';
import { byVersion, type Candidate, candidatesOf } from './candidate.ts';
import { requiredPackage } from './dependencies.ts';
import type { PackageContents } from './package-request.ts';
import type { Dependency } from './package-resolution.ts';
import { ResolutionFailure } from './resolution-failure.ts';

/** Maximum comparisons of versions with required ranges for one request: about a second. */
const maximumComparisons = 4_000_000;

/** A package in a range, and the bundles that catalogs have of it. */
export interface RequiredPackage {
  readonly name: string;
  readonly range: string;
  /** Highest version first. */
  readonly providers: readonly Candidate[];
}

export function requiresPackages({ bundle: { properties } }: Candidate): boolean {
  return properties.some(({ type }) => type === 'olm.package.required');
}

/** Finds what bundles require of packages; equal requirements and bundles are looked up once. */
export class RequiredPackages {
  readonly #contents: PackageContents;
  readonly #packages = new Map<string, readonly Candidate[]>();
  readonly #required = new Map<string, RequiredPackage>();
  #comparisons = 0;

  constructor(contents: PackageContents, known: ReadonlyMap<string, readonly Candidate[]>) {
    this.#contents = contents;
    for (const [name, candidates] of known)
      this.#packages.set(name, candidates.toSorted(byVersion));
  }

  /** @throws ResolutionFailure past the maximum number of comparisons */
  of({ bundle: { properties } }: Candidate): readonly RequiredPackage[] {
    return properties.flatMap((property) => {
      const required = requiredPackage(property);
      // Upstream ignores a range that it cannot read.
      if (required === undefined || rangeProblem(required.versionRange) !== undefined) return [];
      return [this.#lookUp(required)];
    });
  }

  #lookUp({ name, versionRange }: NonNullable<Dependency['package']>): RequiredPackage {
    const key = JSON.stringify([name, versionRange]);
    const known = this.#required.get(key);
    if (known !== undefined) return known;
    const candidates = this.#candidatesOf(name);
    this.#comparisons += candidates.length;
    if (this.#comparisons > maximumComparisons) {
      throw new ResolutionFailure(
        'no-candidates',
        `the dependencies of package ${goQuote(name)} and others need more than ${maximumComparisons} comparisons of versions with ranges`,
      );
    }
    const range = parseRange(versionRange);
    const providers = candidates.filter(
      ({ bundle: { version } }) => version !== undefined && isInRange(version, range),
    );
    const required = { name, range: versionRange, providers };
    this.#required.set(key, required);
    return required;
  }

  #candidatesOf(name: string): readonly Candidate[] {
    const known = this.#packages.get(name);
    if (known !== undefined) return known;
    const contents = this.#contents
      .of(name)
      .toSorted((a, b) => (a.catalog.name < b.catalog.name ? -1 : 1));
    const candidates = candidatesOf(contents).toSorted(byVersion);
    this.#packages.set(name, candidates);
    return candidates;
  }
}
