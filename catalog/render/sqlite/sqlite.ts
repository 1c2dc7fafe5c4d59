import { compareBytes } from '../../../api/byte-order.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { parseJson } from '../../../api/json.ts';
import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { readJsonStream } from '../../../core/manifests/index.ts';
import { throwIfStopped } from '../../../core/platform/stop-signal.ts';
import { Turns } from '../../../core/platform/turns.ts';
import { parseVersion } from '../../../resolver/versions/index.ts';
import type {
  CatalogConfig,
  ChannelEntry,
  Icon,
  OlmBundle,
  OlmChannel,
  OlmPackage,
  RelatedImage,
} from '../../blobs/index.ts';
import type { RawProperty } from '../bundle/bundle-metadata.ts';
import { type BundleObject, isServiceVersion, objectOf } from '../bundle/bundle-objects.ts';
import { distinct, objectsLast, propertyOf, valueProperties } from '../bundle/bundle-properties.ts';
import { inOrder } from '../csv/related-images.ts';
import { type BundleRow, CatalogDatabase, type ChannelRow } from './sqlite-rows.ts';

/** A catalog from a database, and the ClusterServiceVersions that its bundles embed. */
export interface DatabaseCatalog {
  readonly config: CatalogConfig;
  /** JSON of ClusterServiceVersions by package and bundle, joined by a slash. */
  readonly csvs: ReadonlyMap<string, string>;
}

/**
 * Renders a catalog of opm's former format, an SQLite database.
 * @throws TerminalError in opm's words if the database refers to missing rows; the signal's reason
 */
export async function renderDatabase(file: string, signal: AbortSignal): Promise<DatabaseCatalog> {
  using database = new CatalogDatabase(file);
  const turns = new Turns();
  const channels = database.channels();
  checkPackages(database.packages(), channels);
  const merged = new MergedBundles(channels);
  for (const row of database.bundles()) {
    // A signal can arrive between turns only.
    if (turns.isDue) await turns.give();
    signal.throwIfAborted();
    merged.add(row);
  }
  await throwIfStopped(signal);
  const images = database.relatedImages();
  const bundles = merged.bundles().map((bundle) => withImages(bundle, images.get(bundle.name)));
  const names = new Map(channels.map((channel) => [channel.package, channel.defaultChannel]));
  const packages = [...names].map(([name, defaultChannel]) =>
    packageOf(name, defaultChannel, database),
  );
  return {
    csvs: merged.csvs,
    config: { packages, channels: merged.channels(), bundles, deprecations: [], others: [] },
  };
}

function checkPackages(names: readonly string[], channels: readonly ChannelRow[]): void {
  const known = new Set(channels.map((channel) => channel.package));
  const empty = names.find((name) => !known.has(name));
  if (empty !== undefined) throw new TerminalError(`package ${empty} not found`);
}

function packageOf(name: string, defaultChannel: string, database: CatalogDatabase): OlmPackage {
  const head = database.headOf(name, defaultChannel);
  if (head === undefined) {
    throw new TerminalError(
      `populate package icons: get default channel head for package ${goQuote(name)}: no entry found for ${name} ${defaultChannel}`,
    );
  }
  const icon = iconOf(head.csv);
  const fields = { schema: 'olm.package', name, defaultChannel, description: '' } as const;
  return { ...fields, properties: [], ...(icon === undefined ? {} : { icon }) };
}

/** The first icon; undefined if its data, without blanks, is not base64. */
function iconOf(csv: string): Icon | undefined {
  const [icon] = csv === '' ? [] : listOf(fieldAt(parseJson(csv), 'spec', 'icon'));
  const data = (stringAt(icon, 'base64data') ?? '').replaceAll(' ', '');
  if (data === '' || !/^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/.test(data)) return undefined;
  const base64data = Buffer.from(data, 'base64').toString('base64');
  return { base64data, mediatype: stringAt(icon, 'mediatype') ?? '' };
}

function withImages(bundle: OlmBundle, images: ReadonlySet<string> | undefined): OlmBundle {
  const known = new Set(bundle.relatedImages.map(({ image }) => image));
  const more = [...(images ?? [])].filter((image) => !known.has(image));
  const added: readonly RelatedImage[] = more.map((image) => ({ name: '', image }));
  return { ...bundle, relatedImages: inOrder([...bundle.relatedImages, ...added]) };
}

interface GrowingBundle {
  readonly row: BundleRow;
  readonly images: readonly RelatedImage[];
  readonly properties: RawProperty[];
}

/** Merges the rows of a bundle, one for each of its channels, into one blob. */
class MergedBundles {
  readonly csvs = new Map<string, string>();
  readonly #bundles = new Map<string, GrowingBundle>();
  readonly #entries: Map<
    string,
    { readonly channel: ChannelRow; readonly entries: ChannelEntry[] }
  >;

  constructor(channels: readonly ChannelRow[]) {
    this.#entries = new Map(
      channels.map((channel) => [keyOf(channel.package, channel.name), { channel, entries: [] }]),
    );
  }

  add(row: BundleRow): void {
    if (row.properties.some(({ type }) => type === 'olm.deprecated')) return;
    const channel = this.#entries.get(keyOf(row.package, row.channel));
    if (channel === undefined) {
      throw new TerminalError(
        `populate channels: unknown channel ${goQuote(row.channel)} for bundle ${goQuote(row.name)}`,
      );
    }
    const { name, replaces, skips, skipRange } = row;
    channel.entries.push({ name, replaces, skips, skipRange });
    const key = keyOf(row.package, row.name);
    const objects = objectsOf(row);
    const csv = objects.find(isServiceVersion)?.json ?? '';
    const known = this.#bundles.get(key) ?? { row, images: imagesOfCsv(csv), properties: [] };
    known.properties.push(...propertiesOf(row, objects));
    this.#bundles.set(key, known);
    this.csvs.set(key, csv);
  }

  bundles(): readonly OlmBundle[] {
    return [...this.#bundles.values()]
      .toSorted((a, b) => byNames([a.row.package, a.row.name], [b.row.package, b.row.name]))
      .map(({ row, images, properties }) => ({
        schema: 'olm.bundle',
        name: row.name,
        package: row.package,
        image: row.image,
        properties: objectsLast(distinct(properties).map(propertyOf).toSorted(byTypeAndJson)),
        relatedImages: images,
      }));
  }

  channels(): readonly OlmChannel[] {
    return [...this.#entries.values()]
      .toSorted((a, b) =>
        byNames([a.channel.package, a.channel.name], [b.channel.package, b.channel.name]),
      )
      .map(({ channel, entries }) => ({
        schema: 'olm.channel',
        name: channel.name,
        package: channel.package,
        entries: entries.toSorted((a, b) => compareBytes(a.name, b.name)),
        properties: [],
      }));
  }
}

function keyOf(packageName: string, name: string): string {
  return `${packageName}/${name}`;
}

function byNames(a: readonly [string, string], b: readonly [string, string]): number {
  return compareBytes(a[0], b[0]) || compareBytes(a[1], b[1]);
}

function byTypeAndJson(
  a: { readonly type: string; readonly json?: string | undefined },
  b: { readonly type: string; readonly json?: string | undefined },
): number {
  return compareBytes(a.type, b.type) || compareBytes(a.json ?? '', b.json ?? '');
}

/** @throws TerminalError `no csv in bundle` */
function objectsOf({ manifests }: BundleRow): readonly BundleObject[] {
  if (manifests === '') return [];
  // Embeds exactly the text of the database.
  const objects = readJsonStream(manifests).documents.map(({ value, text }) => ({
    ...objectOf(value),
    json: text,
  }));
  if (!objects.some(isServiceVersion)) throw new TerminalError('no csv in bundle');
  return objects;
}

function imagesOfCsv(csv: string): readonly RelatedImage[] {
  const images = csv === '' ? [] : listOf(fieldAt(parseJson(csv), 'spec', 'relatedImages'));
  return images.map((each) => ({
    name: stringAt(each, 'name') ?? '',
    image: stringAt(each, 'image') ?? '',
  }));
}

function propertiesOf(row: BundleRow, objects: readonly BundleObject[]): readonly RawProperty[] {
  const where = `populate channels: convert bundle ${goQuote(row.name)}`;
  try {
    parseVersion(row.version);
  } catch (error) {
    const problem = `parse version ${goQuote(row.version)}: ${errorMessage(error)}`;
    throw new TerminalError(`${where}: ${problem}`, { cause: error });
  }
  try {
    return valueProperties({
      own: row.properties.map(rawOf),
      dependencies: row.dependencies.map(rawOf),
      package: { packageName: row.package, version: row.version },
      objects,
    });
  } catch (error) {
    throw new TerminalError(`${where}: convert properties: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function rawOf({ type, value }: { readonly type: string; readonly value: string }): RawProperty {
  return { type, raw: value };
}
