import type { JsonObject, JsonValue } from '../../api/json.ts';

/** Where a blob stands in a catalog. */
export interface BlobPlace {
  /** Path of the file, relative to the catalog's root, with slashes. */
  readonly file: string;
  /** First byte, and the byte after the last. */
  readonly start: number;
  readonly end: number;
  /** Line of the first byte, from 1. */
  readonly line: number;
}

/**
 * One blob of a file-based catalog, whatever its schema (operator-registry's `declcfg.Meta`). Package
 * and name are empty where the blob has none. `value` has the keys as they are written.
 */
export interface Blob {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
  readonly value: JsonObject;
  readonly place: BlobPlace;
}

/** A typed value of a package, channel or bundle, such as what it provides and requires. */
export interface Property {
  readonly type: string;
  /** Undefined where the property has no value at all. */
  readonly value: JsonValue | undefined;
  /**
   * The value as compact JSON, where its text counts: properties of a rendered bundle are written as
   * JSON with the escapes, key order and numbers of their bundle. Written from `value` where absent.
   */
  readonly json?: string | undefined;
}

export interface Icon {
  /** Null where the icon has none at all, which is written so. */
  readonly base64data: string | null;
  readonly mediatype: string;
}

export interface OlmPackage {
  readonly schema: 'olm.package';
  readonly name: string;
  readonly defaultChannel: string;
  readonly icon?: Icon | undefined;
  readonly description: string;
  readonly properties: readonly Property[];
}

/** A place of a bundle in a channel's upgrade graph. */
export interface ChannelEntry {
  readonly name: string;
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
}

export interface OlmChannel {
  readonly schema: 'olm.channel';
  readonly name: string;
  readonly package: string;
  readonly entries: readonly ChannelEntry[];
  /** True for a list that is there and empty: opm writes `[]` for it, and else `null`. */
  readonly hasEmptyEntries?: boolean | undefined;
  readonly properties: readonly Property[];
}

export interface RelatedImage {
  readonly name: string;
  readonly image: string;
}

export interface OlmBundle {
  readonly schema: 'olm.bundle';
  readonly name: string;
  readonly package: string;
  readonly image: string;
  readonly properties: readonly Property[];
  readonly relatedImages: readonly RelatedImage[];
}

export interface DeprecationEntry {
  readonly reference: { readonly schema: string; readonly name: string };
  readonly message: string;
}

export interface OlmDeprecations {
  readonly schema: 'olm.deprecations';
  readonly package: string;
  readonly entries: readonly DeprecationEntry[];
  /** As that of a channel. */
  readonly hasEmptyEntries?: boolean | undefined;
}

/** A blob of a schema that catalogs give no meaning to: kept as it is. */
export interface CustomBlob {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
  readonly value: JsonObject;
}

/**
 * A catalog, or a part of one, in memory (operator-registry's `declcfg.DeclarativeConfig`): what
 * rendering and templates return. A whole catalog is read blob by blob instead.
 */
export interface CatalogConfig {
  readonly packages: readonly OlmPackage[];
  readonly channels: readonly OlmChannel[];
  readonly bundles: readonly OlmBundle[];
  readonly deprecations: readonly OlmDeprecations[];
  readonly others: readonly CustomBlob[];
}
