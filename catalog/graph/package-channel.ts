import type { ChannelEntry, OlmChannel } from '../blobs/index.ts';
import { chainProblem, channelHeads } from '../validate/index.ts';

/**
 * How an entry is reached: it is a head (`head`), replaces edges lead from a head to it (`path`),
 * another entry skips it (`skipped`), or not at all (`stranded`), which `opm validate` refuses.
 */
export type Reach = 'head' | 'path' | 'skipped' | 'stranded';

export interface ReachedEntry extends ChannelEntry {
  readonly reach: Reach;
}

/** A channel of a package: a column of drawings. */
export interface PackageChannel {
  readonly name: string;
  readonly deprecation: string | undefined;
  /** One, unless the channel is broken. */
  readonly heads: readonly string[];
  /** Problem that `opm validate` reports for its edges. */
  readonly problem: string | undefined;
  /** In the order of the catalog; of entries with the same name, only the last. */
  readonly entries: readonly ReachedEntry[];
}

/** The entries of a channel by name. */
export function entriesByName({ entries }: PackageChannel): ReadonlyMap<string, ReachedEntry> {
  return new Map(entries.map((entry) => [entry.name, entry]));
}

export function packageChannel(
  channel: OlmChannel,
  deprecation: string | undefined,
): PackageChannel {
  const entries = new Map(channel.entries.map((entry) => [entry.name, entry]));
  const heads = channelHeads(entries);
  const skipped = new Set(channel.entries.flatMap(({ skips }) => skips));
  const path = pathsFrom(heads, entries, skipped);
  const isHead = new Set(heads);
  const reachOf = (name: string): Reach => {
    if (isHead.has(name)) return 'head';
    if (path.has(name)) return 'path';
    return skipped.has(name) ? 'skipped' : 'stranded';
  };
  return {
    name: channel.name,
    deprecation,
    heads,
    problem: entries.size === 0 ? 'the channel has no entries' : chainProblem(entries),
    entries: [...entries.values()].map((entry) => ({ ...entry, reach: reachOf(entry.name) })),
  };
}

/**
 * Names on the replaces paths from the heads. A path ends at a skipped entry, another path, itself,
 * or a name that the channel lacks.
 */
function pathsFrom(
  heads: readonly string[],
  entries: ReadonlyMap<string, ChannelEntry>,
  skipped: ReadonlySet<string>,
): ReadonlySet<string> {
  const path = new Set<string>();
  for (const head of heads) {
    let entry = entries.get(head);
    while (entry !== undefined && !path.has(entry.name)) {
      path.add(entry.name);
      entry = skipped.has(entry.replaces) ? undefined : entries.get(entry.replaces);
    }
  }
  return path;
}
