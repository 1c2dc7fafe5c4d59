import type { Budget } from '../../budget.ts';
import { contentSteps } from '../../candidates/index.ts';
import { isInRange, parseRange, rangeProblem, rangeSteps } from '../../versions/index.ts';
import { byVersion, type Candidate, candidatesOf } from '../candidate.ts';
import { requiredPackage } from '../dependencies.ts';
import type { PackageContents } from '../package-request.ts';
import type { Dependency } from '../package-resolution.ts';

/** Steps of looking at a property. */
const propertySteps = 2;
/** Steps of reading a character of a range. */
const characterSteps = 20;

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
  /** Undefined for a range that cannot be read: upstream ignores it. */
  readonly #required = new Map<string, RequiredPackage | undefined>();
  readonly budget: Budget;

  constructor(
    contents: PackageContents,
    known: ReadonlyMap<string, readonly Candidate[]>,
    budget: Budget,
  ) {
    this.#contents = contents;
    this.budget = budget;
    for (const [name, candidates] of known)
      this.#packages.set(name, candidates.toSorted(byVersion));
  }

  /** @throws BudgetError */
  of({ bundle: { properties } }: Candidate): readonly RequiredPackage[] {
    this.budget.take(propertySteps * properties.length);
    return properties.flatMap((property) => {
      const required = requiredPackage(property);
      if (required === undefined) return [];
      this.budget.take((required.name.length + required.versionRange.length) / 8);
      return this.#lookUp(required) ?? [];
    });
  }

  #lookUp(wanted: NonNullable<Dependency['package']>): RequiredPackage | undefined {
    const key = JSON.stringify([wanted.name, wanted.versionRange]);
    if (this.#required.has(key)) return this.#required.get(key);
    this.budget.take(characterSteps * wanted.versionRange.length);
    const isReadable = rangeProblem(wanted.versionRange) === undefined;
    const required = isReadable ? this.#read(wanted) : undefined;
    this.#required.set(key, required);
    return required;
  }

  #read({ name, versionRange }: NonNullable<Dependency['package']>): RequiredPackage {
    const candidates = this.#candidatesOf(name);
    const range = parseRange(versionRange);
    this.budget.take(rangeSteps(range) * candidates.length);
    const providers = candidates.filter(
      ({ bundle: { version } }) => version !== undefined && isInRange(version, range),
    );
    return { name, range: versionRange, providers };
  }

  #candidatesOf(name: string): readonly Candidate[] {
    const known = this.#packages.get(name);
    if (known !== undefined) return known;
    const contents = this.#contents
      .of(name)
      .toSorted((a, b) => (a.catalog.name < b.catalog.name ? -1 : 1));
    for (const content of contents) this.budget.take(contentSteps(content));
    const unsorted = candidatesOf(contents);
    this.budget.takeSort(unsorted.length);
    const candidates = unsorted.toSorted(byVersion);
    this.#packages.set(name, candidates);
    return candidates;
  }
}
