/** What differs between two catalogs; parts that do not differ are left out, lists are sorted. */
export interface CatalogDiff {
  readonly packages: readonly PackageDiff[];
  /** Blobs of no package. */
  readonly blobs: readonly NamedChange[];
  readonly stranded: readonly Stranded[];
}

export type Change = 'added' | 'removed' | 'changed';

/** Values of a field that are gone, and those that are new; of lists the items. Long texts are digests. */
export interface FieldChange {
  readonly field: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface NamedChange {
  readonly name: string;
  readonly change: Change;
  readonly fields: readonly FieldChange[];
}

export interface PackageDiff extends NamedChange {
  readonly channels: readonly ChannelDiff[];
  readonly bundles: readonly NamedChange[];
  /** Names are those of schemas and what they deprecate: `olm.bundle a.v1.0.0`. */
  readonly deprecations: readonly NamedChange[];
  /** Blobs of other schemas, named by schema and name. */
  readonly blobs: readonly NamedChange[];
}

export interface ChannelDiff extends NamedChange {
  /** Bundles of the channel, whose fields are the edges: `replaces`, `skips`, `skipRange`. */
  readonly entries: readonly NamedChange[];
}

/**
 * A bundle that the old catalog upgrades to the head of its channel, and the new one does not: where
 * it is installed, no upgrade is found any more.
 */
export interface Stranded {
  readonly package: string;
  readonly channel: string;
  readonly bundle: string;
  readonly version: string;
  readonly reason: 'package removed' | 'channel removed' | 'channel invalid' | 'upgrade removed';
  /**
   * The step of the old path that is gone: below it, all is stranded. `from` was the head where there
   * is no `to`. Undefined where the whole channel is gone or invalid.
   */
  readonly lastStep: { readonly from: string; readonly to?: string } | undefined;
}
