import { compareBytes } from '../../api/byte-order.ts';
import type { JsonObject, JsonValue } from '../../api/json.ts';
import type { CatalogConfig, ChannelEntry, Icon, OlmPackage, Property } from './blob.ts';

/** Converts a value of any type; `json` is its text, if the text counts. */
type WriteAny = (value: JsonValue, json: string | undefined) => unknown;

/** Members of a blob in the order of Go's fields, without those that Go omits. */
export type WrittenFields = Readonly<Record<string, unknown>>;

/**
 * The blobs of a catalog in opm's order: for each package the package, channels and bundles by
 * name, others by schema, deprecations; blobs without a package come last. `writeAny` converts
 * members whose values have no type upstream.
 */
export function* writtenBlobs(config: CatalogConfig, writeAny: WriteAny): Generator<WrittenFields> {
  const writer = new FieldWriter(writeAny);
  if (sizeOf(config) === 1) {
    yield* onlyBlob(config, writer);
    return;
  }
  const parts = [
    part(
      Map.groupBy(config.packages, ({ name }) => name),
      (blob) => writer.package(blob),
    ),
    part(byPackage(sortedBy(config.channels, 'name')), (blob) => writer.channel(blob)),
    part(byPackage(sortedBy(config.bundles, 'name')), (blob) => writer.bundle(blob)),
    part(byPackage(sortedBy(config.others, 'schema')), (blob) => writer.custom(blob)),
    part(byPackage(config.deprecations), (blob) => writer.deprecations(blob)),
  ];
  const names = new Set(parts.flatMap(({ names: own }) => own));
  for (const name of [...names].filter(Boolean).toSorted(compareBytes)) {
    for (const { blobsOf } of parts) yield* blobsOf(name);
  }
  for (const other of config.others) if (other.package === '') yield writer.custom(other);
}

function sizeOf({ packages, channels, bundles, deprecations, others }: CatalogConfig): number {
  return packages.length + channels.length + bundles.length + deprecations.length + others.length;
}

/** The same without sorting: large catalogs are written blob by blob. */
function* onlyBlob(config: CatalogConfig, writer: FieldWriter): Generator<WrittenFields> {
  for (const blob of config.packages) if (blob.name !== '') yield writer.package(blob);
  for (const blob of config.channels) if (blob.package !== '') yield writer.channel(blob);
  for (const blob of config.bundles) if (blob.package !== '') yield writer.bundle(blob);
  for (const blob of config.deprecations) if (blob.package !== '') yield writer.deprecations(blob);
  for (const blob of config.others) yield writer.custom(blob);
}

/** Blobs of one schema, by package. */
interface Part {
  readonly names: readonly string[];
  readonly blobsOf: (packageName: string) => readonly WrittenFields[];
}

function part<T>(
  blobs: ReadonlyMap<string, readonly T[]>,
  write: (blob: T) => WrittenFields,
): Part {
  return { names: [...blobs.keys()], blobsOf: (name) => (blobs.get(name) ?? []).map(write) };
}

function byPackage<T extends { readonly package: string }>(blobs: readonly T[]): Map<string, T[]> {
  return Map.groupBy(blobs, (blob) => blob.package);
}

function sortedBy<K extends string, T extends Readonly<Record<K, string>>>(
  blobs: readonly T[],
  field: K,
): readonly T[] {
  return blobs.toSorted((a, b) => compareBytes(a[field], b[field]));
}

class FieldWriter {
  readonly #writeAny: WriteAny;

  constructor(writeAny: WriteAny) {
    this.#writeAny = writeAny;
  }

  package(blob: OlmPackage): WrittenFields {
    const { schema, name, defaultChannel, icon, description, properties } = blob;
    return {
      schema,
      name,
      defaultChannel,
      ...(icon === undefined ? {} : { icon: iconFields(icon) }),
      ...unlessEmpty({ description }),
      ...this.#properties(properties),
    };
  }

  channel({
    schema,
    name,
    package: owner,
    ...rest
  }: CatalogConfig['channels'][number]): WrittenFields {
    const { properties } = rest;
    const entries = listOrNull(rest, entryFields);
    return { schema, name, package: owner, entries, ...this.#properties(properties) };
  }

  bundle(blob: CatalogConfig['bundles'][number]): WrittenFields {
    const { schema, name, package: owner, image, properties, relatedImages } = blob;
    return {
      schema,
      ...unlessEmpty({ name }),
      ...unlessEmpty({ package: owner }),
      image,
      ...this.#properties(properties),
      ...(relatedImages.length === 0 ? {} : { relatedImages: relatedImages.map(imageFields) }),
    };
  }

  deprecations(blob: CatalogConfig['deprecations'][number]): WrittenFields {
    const { schema, package: owner } = blob;
    const entries = listOrNull(blob, ({ reference, message }) => ({
      reference: { schema: reference.schema, ...unlessEmpty({ name: reference.name }) },
      message,
    }));
    return { schema, package: owner, entries };
  }

  /** The whole blob is one value of any type. */
  custom({ value }: CatalogConfig['others'][number]): WrittenFields {
    return this.#writeAny(value, undefined) as WrittenFields;
  }

  #properties(properties: readonly Property[]): WrittenFields {
    if (properties.length === 0) return {};
    const written = properties.map(({ type, value, json }) => ({
      type,
      value: this.#writeAny(value ?? null, json),
    }));
    return { properties: written };
  }
}

function iconFields({ base64data, mediatype }: Icon): WrittenFields {
  return { base64data, mediatype };
}

function entryFields({ name, replaces, skips, skipRange }: ChannelEntry): WrittenFields {
  return {
    name,
    ...unlessEmpty({ replaces }),
    ...(skips.length === 0 ? {} : { skips }),
    ...unlessEmpty({ skipRange }),
  };
}

function imageFields({
  name,
  image,
}: {
  readonly name: string;
  readonly image: string;
}): JsonObject {
  return { name, image };
}

/** Go distinguishes an empty list from a missing one. */
function listOrNull<T>(
  {
    entries,
    hasEmptyEntries = false,
  }: { readonly entries: readonly T[]; readonly hasEmptyEntries?: boolean | undefined },
  write: (entry: T) => WrittenFields,
): readonly WrittenFields[] | null {
  return entries.length === 0 && !hasEmptyEntries ? null : entries.map(write);
}

function unlessEmpty(member: Readonly<Record<string, string>>): WrittenFields {
  return Object.values(member)[0] === '' ? {} : member;
}
