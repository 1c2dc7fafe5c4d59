import type { Bundle, CatalogReference, Deprecation, Property } from '../candidates/index.ts';
import type { Explanation } from '../explain/index.ts';
import type { PresentBundle } from './package-request.ts';

/** The answer to a PackageRequest. */
export type PackageResolution = ResolvedPackage | FailedPackage;

export interface ResolvedPackage {
  readonly kind: 'resolved';
  readonly bundle: Bundle;
  readonly catalog: CatalogReference;
  /** Names of the channels that have the bundle, as the catalog orders them. */
  readonly channels: readonly string[];
  /** Of the package, of the requested channels, and of the bundle, by its catalog. */
  readonly deprecations: readonly Deprecation[];
  readonly newest: NewestBundle;
  /** What the bundle requires, in the order of its properties. */
  readonly dependencies: readonly Dependency[];
}

/**
 * Why nothing was resolved.
 * `invalid-version`: the requested range cannot be read; only a change of the request helps.
 * `no-candidates`: the catalogs lack what the request or the installed bundle needs.
 * `unsatisfiable`: bundles match the request, and none of them may be installed now.
 * `limit`: finding out takes more than the budget, or more than the process that resolves has.
 */
export interface FailedPackage {
  readonly kind: 'failed';
  readonly reason: 'invalid-version' | 'no-candidates' | 'unsatisfiable' | 'limit';
  /** Upstream's text, to the letter; ours for `limit`. */
  readonly message: string;
  readonly explanation: Explanation;
  /** Of the package and of the requested channels, by all catalogs. */
  readonly deprecations: readonly Deprecation[];
  /** Undefined if no catalog has the package. */
  readonly newest: NewestBundle | undefined;
}

/** The bundle of the package with the highest version of all available catalogs. */
export interface NewestBundle {
  readonly bundle: Bundle;
  readonly catalog: CatalogReference;
  /** Why the request does not get it, one sentence; undefined if it does. */
  readonly notTaken: string | undefined;
}

/** One requirement of a bundle, judged by what is installed or asked for. */
export interface Dependency {
  /** The property that names it, such as one of type `olm.package.required`. */
  readonly property: Property;
  /** `package "d" in range ">=1.0.0"`. */
  readonly text: string;
  /** The property is invalid: OLM ignores it. */
  readonly isInvalid?: true;
  /** Set for `olm.package.required`. */
  readonly package: { readonly name: string; readonly versionRange: string } | undefined;
  /** The bundle that meets it, an installed one first; undefined if none does. */
  readonly metBy: PresentBundle | undefined;
  /** A bundle of the required package that does not meet it, if no other bundle does. */
  readonly unmetBy?: PresentBundle | undefined;
}
