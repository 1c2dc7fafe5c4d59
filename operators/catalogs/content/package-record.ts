import type { JsonObject } from '../../../api/json.ts';
import {
  type Blob,
  decodeBundle,
  decodeChannel,
  decodeDeprecations,
  decodePackage,
} from '../../../catalog/blobs/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import type {
  Bundle,
  CatalogReference,
  Channel,
  Deprecation,
  PackageContent,
  Property,
} from '../../../resolver/candidates/index.ts';
import { packageVersion } from '../../../resolver/constraints/index.ts';
import { readVersion } from '../../../resolver/versions/index.ts';

/** What resolving needs of a package, in the format of its file. */
export interface PackageRecord {
  defaultChannel: string;
  readonly channels: Channel[];
  readonly bundles: Omit<Bundle, 'version'>[];
  readonly deprecations: Deprecation[];
}

/** Maximum bytes of the JSON of a record: reading it takes less than 50 ms. */
const maxRecordBytes = 8 * 1024 * 1024;

/** Large properties that resolvers do not read, and that registries do not send to OLM either. */
const leftOut: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata']);

/**
 * The record of a package of which these are the blobs; ignores blobs of other schemas.
 * @throws BlobError for a field of the wrong type, TerminalError for a record over 8 MiB
 */
export async function recordOf(blobs: AsyncIterable<Blob>): Promise<PackageRecord> {
  const record: PackageRecord = { defaultChannel: '', channels: [], bundles: [], deprecations: [] };
  let bytes = 0;
  for await (const blob of blobs) {
    bytes += JSON.stringify(addTo(record, blob) ?? '').length;
    if (bytes <= maxRecordBytes) continue;
    throw new TerminalError(
      `the package has more than ${maxRecordBytes} bytes of channels, bundles and properties: split its channels, or remove old bundles`,
    );
  }
  return record;
}

/** Returns what it has added. */
function addTo(record: PackageRecord, blob: Blob): unknown {
  switch (blob.schema) {
    case 'olm.package':
      record.defaultChannel = decodePackage(blob).defaultChannel;
      return undefined;
    case 'olm.channel':
      return added(record.channels, [channelOf(blob)]);
    case 'olm.bundle':
      return added(record.bundles, [bundleOf(blob)]);
    case 'olm.deprecations':
      return added(record.deprecations, deprecationsOf(blob));
    default:
      return undefined;
  }
}

function added<T>(list: T[], items: readonly T[]): readonly T[] {
  for (const item of items) list.push(item);
  return items;
}

function channelOf(blob: Blob): Channel {
  const { name, entries } = decodeChannel(blob);
  return {
    name,
    entries: entries.map((entry) => ({
      name: entry.name,
      skips: entry.skips,
      ...(entry.replaces === '' ? {} : { replaces: entry.replaces }),
      ...(entry.skipRange === '' ? {} : { skipRange: entry.skipRange }),
    })),
  };
}

function bundleOf(blob: Blob): Omit<Bundle, 'version'> {
  const { name, image, properties } = decodeBundle({ ...blob, value: withoutObjects(blob.value) });
  return {
    name,
    image,
    properties: properties.map(({ type, value }) => ({ type, value: value ?? null })),
  };
}

/** Decoding them would take long, and an unreadable one concerns only who unpacks it. */
function withoutObjects(value: JsonObject): JsonObject {
  const { properties } = value;
  if (!Array.isArray(properties)) return value;
  return { ...value, properties: properties.filter((each) => !leftOut.has(typeOf(each))) };
}

function typeOf(property: unknown): string {
  const { type } = (property ?? {}) as { type?: unknown };
  return typeof type === 'string' ? type : '';
}

const deprecable = ['olm.package', 'olm.channel', 'olm.bundle'] as const;

/** Entries of other schemas deprecate nothing. */
function deprecationsOf(blob: Blob): readonly Deprecation[] {
  return decodeDeprecations(blob).entries.flatMap(({ reference, message }) => {
    const schema = deprecable.find((each) => each === reference.schema);
    return schema === undefined ? [] : [{ schema, name: reference.name, message }];
  });
}

/** The content of a package by its record. */
export function contentOf(
  record: PackageRecord,
  { catalog, name }: { readonly catalog: CatalogReference; readonly name: string },
): PackageContent {
  const bundles = record.bundles.map((bundle) => ({ ...bundle, version: versionOf(bundle) }));
  return { ...record, catalog, name, bundles };
}

/** Undefined unless exactly one property names a valid version. */
function versionOf({ properties }: { readonly properties: readonly Property[] }) {
  const [own, ...others] = properties.filter(({ type }) => type === 'olm.package');
  if (own === undefined || others.length > 0) return undefined;
  return readVersion(packageVersion(own.value));
}
