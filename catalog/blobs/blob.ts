import type { JsonObject, JsonValue } from '../../api/json.ts';

/** Location of a blob in a catalog. */
export interface BlobPlace {
  /** Path of the file, relative to the catalog's root, with slashes. */
  readonly file: string;
  /** Offset of the first byte, and of the byte after the last. */
  readonly start: number;
  readonly end: number;
  /** Line of the first byte, from 1. */
  readonly line: number;
}

/**
 * One blob of a file-based catalog, of any schema (operator-registry's `declcfg.Meta`). Package and
 * name are empty if the blob has none. `value` has its keys as written.
 */
export interface Blob {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
  readonly value: JsonObject;
  readonly place: BlobPlace;
}

/** A typed value of a package, channel or bundle, such as a provided or required API. */
export interface Property {
  readonly type: string;
  /** Undefined if the property has no field `value`. */
  readonly value: JsonValue | undefined;
  /**
   * The value as compact JSON, if its exact text counts: properties of a rendered bundle keep the
   * escapes, key order and numbers of their bundle. Defaults to JSON of `value`.
   */
  readonly json?: string | undefined;
}

export interface Icon {
  /** Null if the icon has no data; written as `null`. */
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

/** A bundle in a channel's upgrade graph. */
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
  /** True for an empty list in the blob: opm writes it as `[]`, a missing one as `null`. */
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
  /** As for a channel. */
  readonly hasEmptyEntries?: boolean | undefined;
}

/** A blob of a schema that catalogs do not interpret; kept unchanged. */
export interface CustomBlob {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
  readonly value: JsonObject;
}

/**
 * A catalog, or a part of one, in memory (operator-registry's `declcfg.DeclarativeConfig`): the
 * result of rendering and templates. Whole catalogs are read blob by blob instead.
 */
export interface CatalogConfig {
  readonly packages: readonly OlmPackage[];
  readonly channels: readonly OlmChannel[];
  readonly bundles: readonly OlmBundle[];
  readonly deprecations: readonly OlmDeprecations[];
  readonly others: readonly CustomBlob[];
}
