import { compareBytes } from '../../../api/byte-order.ts';
import { goQuote } from '../../../api/go-quote.ts';
import type { ProvidedApi } from './bundle-message.ts';
import { protocol } from './protocol.ts';
import type { EntryFacts, RegistryContent, RegistryEntry } from './registry-content.ts';

/** A valid query without a result: gRPC code Unknown, as in opm. */
export class NotFound extends Error {}

/** The fields of all requests of `api.Registry`; each request has some of them. */
export interface RegistryRequest extends ProvidedApi {
  readonly name: string;
  readonly pkgName: string;
  readonly channelName: string;
  readonly csvName: string;
}

type Query = (
  content: RegistryContent,
  request: RegistryRequest,
) => AsyncIterable<Uint8Array> | Iterable<Uint8Array> | Promise<Uint8Array>;

/** The methods of `api.Registry`: encoded answers, several for streams. */
export const registryQueries = {
  *ListPackages(content) {
    for (const name of content.packages.keys()) yield protocol.encode('api.PackageName', { name });
  },

  async *ListBundles(content) {
    for (const entry of content.entries()) yield await content.message(entry, 'listed');
  },

  async GetPackage(content, { name }) {
    const { channels, defaultChannel, deprecation } = packageOf(content, name);
    const sorted = channels.toSorted((a, b) => compareBytes(a.name, b.name));
    return protocol.encode('api.Package', {
      name,
      channels: sorted.map((channel) => ({
        name: channel.name,
        csvName: channel.head,
        ...deprecated(channel.deprecation),
      })),
      defaultChannelName: defaultChannel,
      ...deprecated(deprecation),
    });
  },

  async GetBundle(content, request) {
    const { pkgName, channelName, csvName } = request;
    const found = entriesOf(content, request).find(({ entry }) => entry.name === csvName);
    if (found !== undefined) return await content.message(found, 'alone');
    const where = `package ${goQuote(pkgName)}, channel ${goQuote(channelName)}`;
    throw new NotFound(`${where}, bundle ${goQuote(csvName)} not found`);
  },

  async GetBundleForChannel(content, request) {
    const entries = entriesOf(content, request);
    const head = entries.find(({ entry, channel }) => entry.name === channel.head);
    if (head === undefined) throw new NotFound('no channel head found in graph');
    return await content.message(head, 'alone');
  },

  async GetBundleThatReplaces(content, request) {
    const { pkgName, channelName, csvName } = request;
    if (!content.packages.has(pkgName)) throw new NotFound(`package ${pkgName} not found`);
    const found = entriesOf(content, request).find(({ entry }) => replaces(entry, csvName));
    if (found !== undefined) return await content.message(found, 'alone');
    const where = `package ${goQuote(pkgName)}, channel ${goQuote(channelName)}`;
    throw new NotFound(`no entry found for ${where}`);
  },

  GetChannelEntriesThatReplace(content, { csvName }) {
    const found = content.entries().flatMap((each) => {
      const { entry } = each;
      const skips = entry.skips.filter((name) => name === csvName && name !== entry.replaces);
      const edges = entry.replaces === csvName ? [csvName, ...skips] : skips;
      return edges.map(() => channelEntry(each, entry.replaces));
    });
    if (found.length > 0) return found;
    throw new NotFound(`no channel entries found that replace ${csvName}`);
  },

  GetChannelEntriesThatProvide(content, api) {
    const providers = content.entries().filter((entry) => provides(content, entry, api));
    const found = providers.flatMap((each) => edgesOf(each, () => true));
    if (found.length > 0) return found;
    throw new NotFound(`no channel entries found that provide ${apiText(api)}`);
  },

  GetLatestChannelEntriesThatProvide(content, api) {
    const found = latestProviders(content, api).flatMap((each) => {
      const names = new Set(each.channel.entries.map(({ name }) => name));
      return edgesOf(each, (skipped) => names.has(skipped));
    });
    if (found.length > 0) return found;
    throw new NotFound(`no channel entries found that provide ${apiText(api)}`);
  },

  async GetDefaultBundleThatProvides(content, api) {
    const latest = latestProviders(content, api);
    if (latest.length === 0) {
      throw new NotFound(`no channel entries found that provide ${apiText(api)}`);
    }
    const [first] = latest
      .filter((each) => each.channel.name === each.package.defaultChannel)
      .toSorted((a, b) => compareBytes(a.package.name, b.package.name));
    if (first === undefined) throw new NotFound(`no entry found that provides ${apiText(api)}`);
    return await content.message(first, 'alone');
  },
} satisfies Readonly<Record<string, Query>>;

function packageOf(content: RegistryContent, name: string): RegistryEntry['package'] {
  const found = content.packages.get(name);
  if (found !== undefined) return found;
  throw new NotFound(`package ${goQuote(name)} not found`);
}

/**
 * Entries of the requested channel.
 * @throws NotFound for an unknown package or channel
 */
function entriesOf(
  content: RegistryContent,
  { pkgName, channelName }: RegistryRequest,
): readonly RegistryEntry[] {
  const owner = packageOf(content, pkgName);
  const channel = owner.channels.find(({ name }) => name === channelName);
  if (channel !== undefined) {
    return channel.entries.map((entry) => ({ package: owner, channel, entry }));
  }
  throw new NotFound(`package ${goQuote(pkgName)}, channel ${goQuote(channelName)} not found`);
}

function replaces(entry: EntryFacts, name: string): boolean {
  return entry.replaces === name || entry.skips.includes(name);
}

function provides(content: RegistryContent, entry: RegistryEntry, api: ProvidedApi): boolean {
  const { group, version, kind } = api;
  return content
    .provides(entry)
    .some((each) => each.group === group && each.version === version && each.kind === kind);
}

/** Heads of channels that provide the API. */
function latestProviders(content: RegistryContent, api: ProvidedApi): readonly RegistryEntry[] {
  return content
    .entries()
    .filter(({ entry, channel }) => entry.name === channel.head)
    .filter((entry) => provides(content, entry, api));
}

/** An entry for the replaced bundle, even if there is none, and one for each skipped bundle. */
function edgesOf(
  each: RegistryEntry,
  isListed: (skipped: string) => boolean,
): readonly Uint8Array[] {
  const { replaces: replaced, skips } = each.entry;
  const listed = skips.filter((name) => name !== replaced && isListed(name));
  return [replaced, ...listed].map((name) => channelEntry(each, name));
}

function channelEntry({ package: owner, channel, entry }: RegistryEntry, replaced: string) {
  return protocol.encode('api.ChannelEntry', {
    packageName: owner.name,
    channelName: channel.name,
    bundleName: entry.name,
    replaces: replaced,
  });
}

function apiText({ group, version, kind }: ProvidedApi): string {
  return `group:${goQuote(group)} version:${goQuote(version)} kind:${goQuote(kind)}`;
}

function deprecated(message: string | undefined): object {
  return message === undefined ? {} : { deprecation: { message } };
}
