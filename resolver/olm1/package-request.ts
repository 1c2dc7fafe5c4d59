import type { Budget } from '../budget.ts';
import type { Bundle, PackageContent, UpgradePolicy } from '../candidates/index.ts';

/** What one object asks for: a bundle of one package. */
export interface PackageRequest {
  /**
   * `operator`: the rules and texts of OLM 1.0's Operator (4.15). The highest version of all
   * catalogs is chosen.
   * `extension`: those of ClusterExtension. Deprecated bundles come last; catalogs are chosen by
   * priority, and two with the same one are ambiguous.
   */
  readonly profile: 'operator' | 'extension';
  readonly packageName: string;
  /** A Masterminds range; undefined for any version, prereleases included. */
  readonly version?: string | undefined;
  /** The bundle has to be in one of them; empty for any bundle of the package. */
  readonly channels: readonly string[];
  readonly upgrades: UpgradePolicy;
  /** Undefined before the first installation. */
  readonly installed?: InstalledBundle | undefined;
}

/** The bundle that is installed now, as its record names it. */
export type InstalledBundle =
  /** Found in the catalogs by its image. `deployment` is the name of its BundleDeployment. */
  | { readonly by: 'image'; readonly image: string; readonly deployment: string }
  /** Known without the catalogs. `version` includes build metadata. */
  | { readonly by: 'name'; readonly name: string; readonly version: string };

/** What catalogs have, by the name of the package. */
export interface PackageContents {
  /** What each available catalog has of the package; empty for an unknown one. In any order. */
  of(packageName: string): readonly PackageContent[];
}

/** What a package is resolved amidst. */
export interface Surroundings {
  /** Bundles that other objects have installed, or ask for. In any order. */
  readonly present: readonly PresentBundle[];
  /** Catalogs without content, for explanations. In any order. */
  readonly unavailable: readonly UnavailableCatalog[];
  /** What the resolution may take (default: `resolutionSteps`, and expressions). */
  readonly budget?: Budget;
}

export interface PresentBundle {
  readonly packageName: string;
  readonly bundle: Bundle;
  /** The object that it is of: `Operator "d"`. */
  readonly of: string;
  /** False if it is asked for, and not installed yet. */
  readonly isInstalled: boolean;
}

export interface UnavailableCatalog {
  readonly name: string;
  /** `it is not unpacked`. */
  readonly reason: string;
}
