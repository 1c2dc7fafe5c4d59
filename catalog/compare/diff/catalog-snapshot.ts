import { createHash } from 'node:crypto';
import { goQuote } from '../../../api/go-quote.ts';
import type { JsonValue } from '../../../api/json.ts';
import type { Version } from '../../../resolver/versions/index.ts';
import {
  type Blob,
  BlobError,
  type ChannelEntry,
  decodeBundle,
  decodeChannel,
  decodeDeprecations,
  decodePackage,
  jsonText,
  type Property,
} from '../../blobs/index.ts';
import { versionOf } from '../catalog-outline.ts';

/** The compared data of a catalog: names and short values in full, long values as digests. */
export interface CatalogSnapshot {
  /** By name; blobs without a package are under the empty name. */
  readonly packages: ReadonlyMap<string, PackageSnapshot>;
}

export interface PackageSnapshot {
  readonly name: string;
  readonly fields: Fields;
  readonly channels: ReadonlyMap<string, ChannelSnapshot>;
  readonly bundles: ReadonlyMap<string, BundleSnapshot>;
  /** Deprecation messages, by schema and name of the deprecated object. */
  readonly deprecations: ReadonlyMap<string, string>;
  /** Digests of blobs of other schemas, by schema and name. */
  readonly blobs: ReadonlyMap<string, string>;
}

export interface ChannelSnapshot {
  readonly name: string;
  readonly entries: ReadonlyMap<string, ChannelEntry>;
  readonly fields: Fields;
}

export interface BundleSnapshot {
  readonly version: Version | undefined;
  readonly fields: Fields;
}

/** Values by field; a list has one line per item. */
export type Fields = ReadonlyMap<string, string>;

/** @throws BlobError for an unreadable blob or a duplicate name */
export async function snapshotOf(blobs: AsyncIterable<Blob>): Promise<CatalogSnapshot> {
  const packages = new Map<string, OpenPackage>();
  for await (const blob of blobs) {
    const name = blob.schema === 'olm.package' ? blob.name : blob.package;
    const found = packages.get(name) ?? openPackage(name);
    packages.set(name, found);
    const add = readers.get(blob.schema) ?? addOther;
    add(found, blob);
  }
  return { packages };
}

interface OpenPackage extends PackageSnapshot {
  fields: Fields;
  readonly channels: Map<string, ChannelSnapshot>;
  readonly bundles: Map<string, BundleSnapshot>;
  readonly deprecations: Map<string, string>;
  readonly blobs: Map<string, string>;
}

function openPackage(name: string): OpenPackage {
  return {
    name,
    fields: new Map(),
    channels: new Map(),
    bundles: new Map(),
    deprecations: new Map(),
    blobs: new Map(),
  };
}

type Reader = (open: OpenPackage, blob: Blob) => void;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['olm.package', addPackage],
  ['olm.channel', addChannel],
  ['olm.bundle', addBundle],
  ['olm.deprecations', addDeprecations],
]);

function addPackage(open: OpenPackage, blob: Blob): void {
  if (open.fields.size > 0) throw duplicate('package', blob);
  const { defaultChannel, description, icon, properties } = decodePackage(blob);
  open.fields = new Map([
    ['default channel', defaultChannel],
    ['description', shortened(description)],
    ['icon', icon === undefined ? '' : digest(jsonText({ ...icon }))],
    ['properties', propertyLines(properties)],
  ]);
}

function addChannel({ channels }: OpenPackage, blob: Blob): void {
  const { name, entries, properties } = decodeChannel(blob);
  if (channels.has(name)) throw duplicate('channel', blob);
  channels.set(name, {
    name,
    entries: new Map(entries.map((entry) => [entry.name, entry])),
    fields: new Map([['properties', propertyLines(properties)]]),
  });
}

function addBundle({ bundles }: OpenPackage, blob: Blob): void {
  const bundle = decodeBundle(blob);
  if (bundles.has(bundle.name)) throw duplicate('bundle', blob);
  const images = bundle.relatedImages.map(({ name, image }) => `${name} ${image}`);
  bundles.set(bundle.name, {
    version: versionOf(bundle),
    fields: new Map([
      ['image', bundle.image],
      ['properties', propertyLines(bundle.properties)],
      ['related images', images.length === 0 ? '' : digest(images.sort().join('\n'))],
    ]),
  });
}

function addDeprecations({ deprecations }: OpenPackage, blob: Blob): void {
  for (const { reference, message } of decodeDeprecations(blob).entries) {
    deprecations.set(`${reference.schema} ${reference.name}`.trim(), message);
  }
}

/** Blobs of the same schema and name share one digest. */
function addOther({ blobs }: OpenPackage, { schema, name, value }: Blob): void {
  const key = `${schema} ${name}`.trim();
  blobs.set(key, digest(`${blobs.get(key) ?? ''}${jsonText(value)}`));
}

function duplicate(kind: string, { name, place }: Blob): BlobError {
  return new BlobError(`${kind} ${goQuote(name)} is there twice`, place);
}

/** One line per property, sorted and without duplicates. */
function propertyLines(properties: readonly Property[]): string {
  const lines = properties.map(({ type, value }) => `${type} ${shortened(written(value))}`);
  return [...new Set(lines)].sort().join('\n');
}

function written(value: JsonValue | undefined): string {
  return value === undefined ? '' : jsonText(value);
}

const longestShown = 200;

function shortened(text: string): string {
  return text.length <= longestShown && !text.includes('\n') ? text : digest(text);
}

function digest(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}
