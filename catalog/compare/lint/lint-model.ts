import type { BlobPlace, ChannelEntry } from '../../blobs/index.ts';
import type { BundleOutline } from '../catalog-outline.ts';

/**
 * `error`: clusters or servers refuse it, or clusters get a wrong version. `info`: may be intended.
 */
export type LintLevel = 'error' | 'warning' | 'info';

export interface Finding {
  readonly rule: string;
  readonly level: LintLevel;
  readonly message: string;
  /** Path of the file, relative to the catalog's root. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Empty for blobs without a package. */
  readonly package: string;
  readonly channel?: string;
  readonly bundle?: string;
}

/** A check of a package. */
export interface LintRule {
  readonly name: string;
  readonly level: LintLevel;
  /** Its findings, in one line. */
  readonly summary: string;
  readonly check: (checked: LintPackage, catalog: LintCatalog) => Iterable<Found>;
}

/** What a rule finds. */
export interface Found {
  readonly message: string;
  readonly place: BlobPlace;
  /** Keys and indexes from the blob to the field. */
  readonly path?: FieldPath;
  readonly channel?: string;
  readonly bundle?: string;
}

export type FieldPath = readonly (string | number)[];

export interface LintCatalog {
  readonly packages: ReadonlyMap<string, LintPackage>;
  /** Bundles by the package, API or label that they provide. */
  readonly providers: ReadonlyMap<string, readonly BundleOutline[]>;
}

/** The facts of a package that rules check: a small part of its blobs. */
export interface LintPackage {
  readonly name: string;
  /** Undefined if the package has no `olm.package` blob. */
  readonly own: OwnBlob | undefined;
  readonly channels: ReadonlyMap<string, LintChannel>;
  readonly bundles: ReadonlyMap<string, LintBundle>;
  readonly deprecations: readonly LintDeprecation[];
  readonly others: readonly { readonly schema: string; readonly place: BlobPlace }[];
}

export interface OwnBlob {
  readonly place: BlobPlace;
  readonly defaultChannel: string;
  readonly hasDescription: boolean;
  readonly icon: { readonly declared: string; readonly found: string } | undefined;
}

export interface LintChannel {
  readonly name: string;
  readonly place: BlobPlace;
  readonly entries: ReadonlyMap<string, ChannelEntry>;
}

export interface LintBundle extends BundleOutline {
  readonly place: BlobPlace;
  /** Its image and related images without a digest. */
  readonly tags: readonly string[];
  /** Number of its `olm.csv.metadata` properties. */
  readonly metadata: number;
  /** Whether it embeds manifests. */
  readonly hasObjects: boolean;
  /** Invalid version ranges of required packages. */
  readonly badRanges: readonly { readonly problem: string; readonly path: FieldPath }[];
}

export interface LintDeprecation {
  readonly schema: string;
  readonly name: string;
  readonly place: BlobPlace;
  readonly path: FieldPath;
}
