import type { Version } from '../versions/index.ts';

/** What one catalog has of one package. Lists are in the catalog's order. */
export interface PackageContent {
  readonly catalog: CatalogReference;
  readonly name: string;
  /** Empty if the catalog names none. */
  readonly defaultChannel: string;
  readonly channels: readonly Channel[];
  readonly bundles: readonly Bundle[];
  readonly deprecations: readonly Deprecation[];
}

export interface CatalogReference {
  readonly name: string;
  /** Empty for a catalog of the whole cluster. */
  readonly namespace: string;
  /** Higher is preferred; 0 by default. */
  readonly priority: number;
}

export interface Channel {
  readonly name: string;
  readonly entries: readonly ChannelEntry[];
}

/** A bundle's place in a channel; its edges name the bundles that it is an upgrade from. */
export interface ChannelEntry {
  readonly name: string;
  readonly replaces?: string;
  readonly skips: readonly string[];
  /** A range of versions that can be upgraded to this entry (blang/semver). */
  readonly skipRange?: string;
}

export interface Bundle {
  readonly name: string;
  readonly image: string;
  /** Undefined if the catalog names no valid version. */
  readonly version: Version | undefined;
  readonly properties: readonly Property[];
}

/** `value` is parsed JSON. */
export interface Property {
  readonly type: string;
  readonly value: unknown;
}

/** A message for users of a package, or of one of its channels or bundles. */
export interface Deprecation {
  readonly schema: 'olm.package' | 'olm.channel' | 'olm.bundle';
  /** Of the channel or bundle; empty for the package. */
  readonly name: string;
  readonly message: string;
}
