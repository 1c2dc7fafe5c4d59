import { compareBytes } from '../../api/byte-order.ts';
import type { JsonObject, JsonValue } from '../../api/json.ts';
import type { CatalogConfig, ChannelEntry, Icon, OlmPackage, Property } from './blob.ts';

/**
 * The blobs of a catalog as compact JSON, in opm's order: package by package, in each the package,
 * channels and bundles by name, others by schema, deprecations; at the end what is in no package.
 */
export function* compactBlobs(config: CatalogConfig): Generator<string> {
  const parts = [
    { texts: Map.groupBy(config.packages, ({ name }) => name), write: packageText },
    { texts: byPackage(sortedBy(config.channels, 'name')), write: channelText },
    { texts: byPackage(sortedBy(config.bundles, 'name')), write: bundleText },
    { texts: byPackage(sortedBy(config.others, 'schema')), write: customText },
    { texts: byPackage(config.deprecations), write: deprecationsText },
  ] as readonly Part[];
  const names = new Set(parts.flatMap(({ texts }) => [...texts.keys()]));
  for (const name of [...names].filter(Boolean).toSorted(compareBytes)) {
    for (const { texts, write } of parts) yield* (texts.get(name) ?? []).map(write);
  }
  yield* config.others.filter((other) => other.package === '').map(customText);
}

/** Blobs of one schema by package, and how one is written. */
interface Part {
  readonly texts: ReadonlyMap<string, readonly unknown[]>;
  readonly write: (blob: unknown) => string;
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

function packageText({ schema, name, defaultChannel, icon, ...rest }: OlmPackage): string {
  const { description, properties } = rest;
  return struct([
    ['schema', text(schema)],
    ['name', text(name)],
    ['defaultChannel', text(defaultChannel)],
    ['icon', icon && iconText(icon)],
    ['description', unlessEmpty(description)],
    ['properties', propertiesText(properties)],
  ]);
}

function iconText({ base64data, mediatype }: Icon): string {
  return struct([
    ['base64data', base64data === null ? 'null' : text(base64data)],
    ['mediatype', text(mediatype)],
  ]);
}

function channelText(channel: CatalogConfig['channels'][number]): string {
  return struct([
    ['schema', text(channel.schema)],
    ['name', text(channel.name)],
    ['package', text(channel.package)],
    ['entries', channel.entries.length === 0 ? 'null' : list(channel.entries.map(entryText))],
    ['properties', propertiesText(channel.properties)],
  ]);
}

function entryText({ name, replaces, skips, skipRange }: ChannelEntry): string {
  return struct([
    ['name', text(name)],
    ['replaces', unlessEmpty(replaces)],
    ['skips', skips.length === 0 ? undefined : list(skips.map(text))],
    ['skipRange', unlessEmpty(skipRange)],
  ]);
}

function bundleText(bundle: CatalogConfig['bundles'][number]): string {
  const images = bundle.relatedImages.map(({ name, image }) => strings({ name, image }));
  return struct([
    ['schema', text(bundle.schema)],
    ['name', unlessEmpty(bundle.name)],
    ['package', unlessEmpty(bundle.package)],
    ['image', text(bundle.image)],
    ['properties', propertiesText(bundle.properties)],
    ['relatedImages', images.length === 0 ? undefined : list(images)],
  ]);
}

function deprecationsText(blob: CatalogConfig['deprecations'][number]): string {
  const entries = blob.entries.map(({ reference, message }) => {
    const named = struct([
      ['schema', text(reference.schema)],
      ['name', unlessEmpty(reference.name)],
    ]);
    return struct([
      ['reference', named],
      ['message', text(message)],
    ]);
  });
  return struct([
    ['schema', text(blob.schema)],
    ['package', text(blob.package)],
    ['entries', entries.length === 0 ? 'null' : list(entries)],
  ]);
}

function customText({ value }: CatalogConfig['others'][number]): string {
  return valueText(value);
}

function propertiesText(properties: readonly Property[]): string | undefined {
  if (properties.length === 0) return undefined;
  return list(
    properties.map(({ type, value, json }) =>
      struct([
        ['type', text(type)],
        ['value', json ?? valueText(value ?? null)],
      ]),
    ),
  );
}

/** Members in the order of the fields; those without a text are left out. */
function struct(fields: readonly (readonly [name: string, text: string | undefined])[]): string {
  const members = fields.flatMap(([name, value]) =>
    value === undefined ? [] : [`"${name}":${value}`],
  );
  return `{${members.join(',')}}`;
}

function strings(values: Readonly<Record<string, string>>): string {
  return struct(Object.entries(values).map(([name, value]) => [name, text(value)]));
}

function list(items: readonly string[]): string {
  return `[${items.join(',')}]`;
}

function unlessEmpty(value: string): string | undefined {
  return value === '' ? undefined : text(value);
}

function text(value: string): string {
  return JSON.stringify(value.toWellFormed()).replaceAll(/[\u2028\u2029]/g, (character) =>
    character === '\u2028' ? '\\u2028' : '\\u2029',
  );
}

/** Keys by their bytes, and numbers as floats, as Go writes what it has read as anything. */
function valueText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return list((value as readonly JsonValue[]).map(valueText));
  if (typeof value === 'object' && value !== null) return objectText(value as JsonObject);
  if (typeof value === 'bigint') return String(Number(value));
  return Object.is(value, -0) ? '-0' : String(value ?? null);
}

function objectText(value: JsonObject): string {
  const keys = Object.keys(value).toSorted(compareBytes);
  return `{${keys.map((key) => `${text(key)}:${valueText(value[key])}`).join(',')}}`;
}
