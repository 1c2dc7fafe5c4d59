import { compareBytes } from '../../api/byte-order.ts';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import type { ChannelEntry, OlmChannel } from '../blobs/index.ts';
import { channelHeads } from '../validate/index.ts';
import type { UpgradeGraph } from './upgrade-graph.ts';

export interface ListedPackage {
  readonly name: string;
  /** Display name of the operator, from the head of the default channel. */
  readonly displayName: string;
  readonly defaultChannel: string;
  /** Heads of the default channel: one, unless the channel is broken. */
  readonly heads: readonly string[];
}

export interface ListedChannel {
  readonly package: string;
  readonly channel: string;
  /** One head; none or several for a broken channel. */
  readonly heads: readonly string[];
}

/** A bundle in a channel. */
export interface ListedBundle extends ChannelEntry {
  readonly package: string;
  readonly channel: string;
  /** Empty if the catalog lacks the bundle. */
  readonly image: string;
}

/**
 * All packages of a catalog, or only `owner`, sorted by name.
 * @throws TerminalError `package "…" not found`
 */
export function listedPackages(graph: UpgradeGraph, owner?: string): readonly ListedPackage[] {
  const { packages, channels, bundles } = graph;
  checkPackage(graph, owner);
  const heads = new Map(
    channels.map((each) => [keyOf(each.package, each.name), headsOf(each)] as const),
  );
  const names = new Map(
    bundles.map((each) => [keyOf(each.package, each.name), each.displayName] as const),
  );
  const chosen = packages.filter(({ name }) => owner === undefined || name === owner);
  const rows = chosen.map(({ name, defaultChannel }): ListedPackage => {
    const found = heads.get(keyOf(name, defaultChannel)) ?? [];
    const [head, second] = found;
    const isHead = head !== undefined && second === undefined;
    const displayName = isHead ? (names.get(keyOf(name, head)) ?? '') : '';
    return { name, displayName, defaultChannel, heads: found };
  });
  return rows.toSorted((a, b) => compareBytes(a.name, b.name));
}

/**
 * The channels of all packages, or only of `owner`, sorted by package and name.
 * @throws TerminalError `package "…" not found`
 */
export function listedChannels(graph: UpgradeGraph, owner?: string): readonly ListedChannel[] {
  return chosenChannels(graph, owner)
    .map((each) => ({ package: each.package, channel: each.name, heads: headsOf(each) }))
    .toSorted(byChannel);
}

/**
 * The bundles of all channels, or only of `owner`, sorted by package, channel and name: one row for
 * each channel of a bundle.
 * @throws TerminalError `package "…" not found`
 */
export function listedBundles(graph: UpgradeGraph, owner?: string): readonly ListedBundle[] {
  const images = new Map(
    graph.bundles.map((each) => [keyOf(each.package, each.name), each.image] as const),
  );
  return chosenChannels(graph, owner)
    .flatMap((channel) =>
      channel.entries.map((entry) => ({
        ...entry,
        package: channel.package,
        channel: channel.name,
        image: images.get(keyOf(channel.package, entry.name)) ?? '',
      })),
    )
    .toSorted((a, b) => byChannel(a, b) || compareBytes(a.name, b.name));
}

function chosenChannels(graph: UpgradeGraph, owner: string | undefined): readonly OlmChannel[] {
  checkPackage(graph, owner);
  return graph.channels.filter((each) => owner === undefined || each.package === owner);
}

function checkPackage({ packages }: UpgradeGraph, owner: string | undefined): void {
  if (owner === undefined || packages.some(({ name }) => name === owner)) return;
  throw new TerminalError(`package ${goQuote(owner)} not found`);
}

function byChannel(a: Omit<ListedChannel, 'heads'>, b: Omit<ListedChannel, 'heads'>): number {
  return compareBytes(a.package, b.package) || compareBytes(a.channel, b.channel);
}

function headsOf({ entries }: OlmChannel): readonly string[] {
  return channelHeads(new Map(entries.map((entry) => [entry.name, entry])));
}

function keyOf(owner: string, name: string): string {
  return JSON.stringify([owner, name]);
}
