/** Differences between two catalogs. Omits equal parts; lists are sorted. */
export interface CatalogDiff {
  readonly packages: readonly PackageDiff[];
  /** Blobs without a package. */
  readonly blobs: readonly NamedChange[];
  readonly stranded: readonly Stranded[];
}

export type Change = 'added' | 'removed' | 'changed';

/** Removed and added values of a field; for a list, its items. Long texts are digests. */
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
  /** Named by schema and name of the deprecated object: `olm.bundle a.v1.0.0`. */
  readonly deprecations: readonly NamedChange[];
  /** Blobs of other schemas, named by schema and name. */
  readonly blobs: readonly NamedChange[];
}

export interface ChannelDiff extends NamedChange {
  /** Bundles of the channel, whose fields are the edges: `replaces`, `skips`, `skipRange`. */
  readonly entries: readonly NamedChange[];
}

/**
 * A bundle with an upgrade path to the head of its channel in the old catalog, but not in the new
 * one: clusters with this bundle find no upgrade to the head.
 */
export interface Stranded {
  readonly package: string;
  readonly channel: string;
  readonly bundle: string;
  readonly version: string;
  readonly reason: 'package removed' | 'channel removed' | 'channel invalid' | 'upgrade removed';
  /**
   * The removed step of the old path: it strands all bundles below. Without `to`, `from` was the
   * head. Undefined if the whole channel is removed or invalid.
   */
  readonly lastStep: { readonly from: string; readonly to?: string } | undefined;
}
