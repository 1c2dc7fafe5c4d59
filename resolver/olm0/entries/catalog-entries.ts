import type { Budget } from '../../budget.ts';
import {
  type Bundle,
  type ChannelEntry,
  contentSteps,
  type PackageContent,
  type Property,
  readSkipRange,
} from '../../candidates/index.ts';
import { packageNames, providedApis } from '../../constraints/index.ts';
import { versionText } from '../../versions/index.ts';
import { type Entry, entryId } from './entry.ts';

/** One content of a catalog serves the resolutions of many namespaces. */
const known = new WeakMap<PackageContent, readonly Entry[]>();

/**
 * The entries of a package's channels, in the order of the catalog.
 * @throws BudgetError
 */
export function catalogEntries(content: PackageContent, budget: Budget): readonly Entry[] {
  budget.take(contentSteps(content));
  const entries = known.get(content) ?? readEntries(content);
  known.set(content, entries);
  return entries;
}

function readEntries(content: PackageContent): readonly Entry[] {
  const bundles = new Map(content.bundles.map((bundle) => [bundle.name, bundle]));
  const offers = new Map<Bundle, Offer>();
  return content.channels.flatMap(({ name: channel, entries }) =>
    entries.flatMap((entry) => {
      const bundle = bundles.get(entry.name);
      if (bundle === undefined) return [];
      const offer = offers.get(bundle) ?? offerOf(bundle, content.name);
      offers.set(bundle, offer);
      return [entryOf(content, { channel, entry, bundle, offer })];
    }),
  );
}

interface Place {
  readonly channel: string;
  readonly entry: ChannelEntry;
  readonly bundle: Bundle;
  readonly offer: Offer;
}

/** What the entries of one bundle share. */
type Offer = Pick<Entry, 'properties' | 'apis' | 'packageNames'>;

function offerOf(bundle: Bundle, packageName: string): Offer {
  const properties = seenProperties(bundle, packageName);
  return { properties, apis: providedApis(properties), packageNames: packageNames(properties) };
}

function entryOf(
  { catalog, name: packageName, defaultChannel }: PackageContent,
  { channel, entry, bundle, offer }: Place,
): Entry {
  return {
    id: entryId(catalog, channel, entry.name),
    name: entry.name,
    catalog,
    packageName,
    channel,
    isDefaultChannel: channel === defaultChannel,
    version: bundle.version,
    image: bundle.image,
    replaces: entry.replaces ?? '',
    skips: entry.skips,
    skipRange: readSkipRange(entry.skipRange),
    ...offer,
  };
}

const contents = new Set(['olm.bundle.object', 'olm.csv.metadata']);

/**
 * The properties that reach OLM from a catalog: it offers requirements of APIs and packages as
 * properties and as dependencies, and OLM reads both.
 */
function seenProperties(bundle: Bundle, packageName: string): readonly Property[] {
  const own = bundle.properties.filter(({ type }) => !contents.has(type));
  const dependencies = own.flatMap((property) => dependencyOf(property));
  const properties = [...own, ...dependencies];
  if (properties.some(({ type }) => type === 'olm.package')) return properties;
  const version = bundle.version === undefined ? '' : versionText(bundle.version);
  return [...properties, { type: 'olm.package', value: { packageName, version } }];
}

function dependencyOf({ type, value }: Property): readonly Property[] {
  if (type === 'olm.gvk.required') {
    const [api] = providedApis([{ type: 'olm.gvk', value }]);
    return api === undefined ? [] : [{ type, value: api }];
  }
  if (type !== 'olm.package.required') return [];
  return packageNames([{ type: 'olm.package', value }]).length === 0 ? [] : [{ type, value }];
}
