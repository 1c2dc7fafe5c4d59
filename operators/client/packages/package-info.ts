import { Budget, BudgetError } from '../../../resolver/budget.ts';
import {
  type Bundle,
  type Channel,
  ChannelError,
  channelOrder,
  type Deprecation,
  type PackageContent,
} from '../../../resolver/candidates/index.ts';
import { dependenciesOf } from '../../../resolver/olm1/index.ts';
import { compareVersions, versionText } from '../../../resolver/versions/index.ts';
import type { CatalogIdentity, ServingCatalog } from '../../catalogs/index.ts';
import type { RemoteCatalogs } from '../catalogs/remote-catalogs.ts';
import { type BundleDescription, describeBundle, noDescription } from './bundle-description.ts';

/** A package of one catalog, described by the head of its default channel. */
export interface PackageInfo extends BundleDescription {
  readonly name: string;
  readonly catalog: Pick<CatalogIdentity, 'kind' | 'name'>;
  /** Version of that head; empty if that is not known. */
  readonly version: string;
  readonly defaultChannel: string;
  /** The default channel first, then by name. */
  readonly channels: readonly ChannelInfo[];
  /** What that head requires, each as the object of "requires": `package "d" in …`. */
  readonly requires: readonly string[];
  readonly deprecations: readonly Deprecation[];
}

export interface ChannelInfo {
  readonly name: string;
  /** Newest first. */
  readonly versions: readonly string[];
}

/** What each catalog has of a package, in the order of catalogs; empty if none has it. */
export async function packageInfo(
  catalogs: RemoteCatalogs,
  name: string,
): Promise<readonly PackageInfo[]> {
  const found = await catalogs.findPackage(name, () => true);
  return await Promise.all(
    found.flatMap((each) =>
      'content' in each ? [infoOf(catalogs, each.catalog, each.content)] : [],
    ),
  );
}

async function infoOf(
  catalogs: RemoteCatalogs,
  catalog: ServingCatalog,
  content: PackageContent,
): Promise<PackageInfo> {
  const { name, defaultChannel, channels, deprecations } = content;
  const head = headOf(content);
  const description = await catalogs.attempt(catalog, async () => {
    let described = noDescription;
    if (head === undefined) return described;
    const query = { schema: 'olm.bundle', package: name, name: head.name };
    for await (const blob of catalogs.blobs(catalog, query)) described = describeBundle(blob);
    return described;
  });
  const rank = (channel: Channel): number => Number(channel.name !== defaultChannel);
  const inOrder = channels.toSorted(
    (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : Number(a.name > b.name)),
  );
  return {
    name,
    catalog: { kind: catalog.kind, name: catalog.name },
    ...(description ?? noDescription),
    version: textOf(head),
    defaultChannel,
    channels: inOrder.map((channel) => channelInfo(channel, content)),
    requires: head === undefined ? [] : requirementsOf(head, content),
    deprecations,
  };
}

function headOf({ name, bundles, channels, defaultChannel }: PackageContent): Bundle | undefined {
  const channel = channels.find((each) => each.name === defaultChannel);
  try {
    const place = { packageName: name, channel: defaultChannel };
    const head = channelOrder(channel?.entries ?? [], place)[0];
    return bundles.find((bundle) => bundle.name === head?.name);
  } catch (error) {
    if (error instanceof ChannelError) return undefined;
    throw error;
  }
}

/** The versions of the channel's bundles; names of those without a version come last. */
function channelInfo({ name, entries }: Channel, { bundles }: PackageContent): ChannelInfo {
  const names = new Set(entries.map((entry) => entry.name));
  const members = bundles.filter((bundle) => names.has(bundle.name)).toSorted(newestFirst);
  return { name, versions: members.map((each) => textOf(each) || each.name) };
}

function newestFirst(a: Bundle, b: Bundle): number {
  if (a.version === undefined || b.version === undefined) {
    return Number(a.version === undefined) - Number(b.version === undefined);
  }
  return compareVersions(b.version, a.version);
}

function textOf(bundle: Bundle | undefined): string {
  return bundle?.version === undefined ? '' : versionText(bundle.version);
}

function requirementsOf(bundle: Bundle, content: PackageContent): readonly string[] {
  const owner = { packageName: content.name, ...bundle };
  const contents = { of: (name: string) => (name === content.name ? [content] : []) };
  const surroundings = { present: [], unavailable: [] };
  try {
    const dependencies = dependenciesOf(owner, { contents, surroundings, budget: new Budget() });
    return dependencies.map(({ text }) => text);
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
    return [`what takes too long to read: ${error.message}`];
  }
}
