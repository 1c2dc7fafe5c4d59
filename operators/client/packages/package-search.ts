import { fieldAt } from '../../../api/json-fields.ts';
import { type Blob, decodeChannel, decodePackage } from '../../../catalog/blobs/index.ts';
import {
  type ChannelEntry,
  ChannelError,
  channelOrder,
} from '../../../resolver/candidates/index.ts';
import type { CatalogIdentity } from '../../catalogs/index.ts';
import type { RemoteCatalogs } from '../catalogs/remote-catalogs.ts';
import {
  type BundleDescription,
  describeBundle,
  firstParagraph,
  noDescription,
} from './bundle-description.ts';

/** A package of one catalog. */
export interface AvailablePackage {
  readonly name: string;
  readonly displayName: string;
  readonly catalog: Pick<CatalogIdentity, 'kind' | 'name'>;
  /** Version of the head of the default channel; empty if that is not known. */
  readonly version: string;
  /** Empty if the catalog names none. */
  readonly defaultChannel: string;
  /** Names of all channels, the default one first, then by name. */
  readonly channels: readonly string[];
  /** One line. */
  readonly description: string;
  readonly keywords: readonly string[];
  /** Names of the install modes that the head supports, such as `AllNamespaces`. */
  readonly installModes: readonly string[];
}

/** A package before its bundles are read. */
interface PackageOutline {
  readonly name: string;
  readonly defaultChannel: string;
  readonly description: string;
  readonly channels: readonly string[];
  /** Name of the head of the default channel; undefined if the channel is broken. */
  readonly head: string | undefined;
}

/**
 * The packages of all catalogs, sorted by name, and by the order of catalogs: those whose name,
 * display name, description or keywords contain the word, in any case. Reads the packages, the
 * channels, and one bundle for each package.
 */
export async function searchPackages(
  catalogs: RemoteCatalogs,
  word = '',
): Promise<readonly AvailablePackage[]> {
  const found = await Promise.all(
    catalogs.serving().map(async (catalog) => {
      const packages = await catalogs.attempt(catalog, () => packagesOf(catalogs, catalog));
      return packages ?? [];
    }),
  );
  const wanted = word.toLowerCase();
  return found
    .flat()
    .filter((each) => isFound(each, wanted))
    .toSorted((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1));
}

/** Names of all packages of the catalogs that can be read, sorted. */
export async function packageNames(catalogs: RemoteCatalogs): Promise<readonly string[]> {
  const names = new Set<string>();
  await Promise.all(
    catalogs.serving().map((catalog) =>
      catalogs.attempt(catalog, async () => {
        const blobs = catalogs.blobs(catalog, { schema: 'olm.package' });
        for await (const { name } of blobs) names.add(name);
      }),
    ),
  );
  return [...names].toSorted();
}

async function packagesOf(
  catalogs: RemoteCatalogs,
  catalog: CatalogIdentity,
): Promise<readonly AvailablePackage[]> {
  const outlines = await outlinesOf(catalogs, catalog);
  return await Promise.all(
    outlines.map(async ({ head, ...outline }) => {
      const { version, description, ...described } =
        head === undefined
          ? { ...noDescription, version: '' }
          : await headOf(catalogs, catalog, { package: outline.name, name: head });
      const { displayName, keywords, installModes } = described;
      return {
        ...outline,
        catalog: { kind: catalog.kind, name: catalog.name },
        version,
        displayName,
        keywords,
        installModes,
        description: description || outline.description,
      };
    }),
  );
}

/** Without their icons, which are most of the bytes. */
async function outlinesOf(
  catalogs: RemoteCatalogs,
  catalog: CatalogIdentity,
): Promise<readonly PackageOutline[]> {
  const channels = new Map<string, Map<string, readonly ChannelEntry[]>>();
  for await (const blob of catalogs.blobs(catalog, { schema: 'olm.channel' })) {
    const { name, entries } = decodeChannel(blob);
    const ofPackage = channels.get(blob.package) ?? new Map<string, readonly ChannelEntry[]>();
    channels.set(blob.package, ofPackage.set(name, entries));
  }
  const outlines: PackageOutline[] = [];
  for await (const blob of catalogs.blobs(catalog, { schema: 'olm.package' })) {
    const { name, defaultChannel, description } = decodePackage(blob);
    const ofPackage = channels.get(name) ?? new Map<string, readonly ChannelEntry[]>();
    const others = [...ofPackage.keys()].filter((each) => each !== defaultChannel).toSorted();
    outlines.push({
      name,
      defaultChannel,
      description: firstParagraph(description),
      channels: ofPackage.has(defaultChannel) ? [defaultChannel, ...others] : others,
      head: channelHead(ofPackage.get(defaultChannel) ?? [], name, defaultChannel),
    });
  }
  return outlines;
}

function channelHead(
  entries: readonly ChannelEntry[],
  packageName: string,
  channel: string,
): string | undefined {
  try {
    return channelOrder(entries, { packageName, channel })[0]?.name;
  } catch (error) {
    if (error instanceof ChannelError) return undefined;
    throw error;
  }
}

async function headOf(
  catalogs: RemoteCatalogs,
  catalog: CatalogIdentity,
  bundle: { readonly package: string; readonly name: string },
): Promise<BundleDescription & { readonly version: string }> {
  let head = { ...noDescription, version: '' };
  // To its end: a connection with an answer that is not read cannot be used again.
  for await (const blob of catalogs.blobs(catalog, { schema: 'olm.bundle', ...bundle })) {
    head = { ...describeBundle(blob), version: versionOf(blob) };
  }
  return head;
}

function versionOf({ value: { properties } }: Blob): string {
  const own = Array.isArray(properties)
    ? properties.find((each) => fieldAt(each, 'type') === 'olm.package')
    : undefined;
  const version = fieldAt(own, 'value', 'version');
  return typeof version === 'string' ? version : '';
}

function isFound(
  { name, displayName, description, keywords }: AvailablePackage,
  word: string,
): boolean {
  return [name, displayName, description, ...keywords].some((text) =>
    text.toLowerCase().includes(word),
  );
}
