import { compareBytes } from '../../api/byte-order.ts';

/** The upgrade edges of a channel's entry. */
export interface ChainEntry {
  readonly replaces: string;
  readonly skips: readonly string[];
}

/**
 * The entries that no other entry replaces or skips, sorted. A valid channel has exactly one: its
 * head. Ranges of skipped versions do not count.
 */
export function channelHeads(entries: ReadonlyMap<string, ChainEntry>): readonly string[] {
  const left = new Set<string>();
  for (const { replaces, skips } of entries.values()) {
    if (replaces !== '') left.add(replaces);
    for (const skipped of skips) left.add(skipped);
  }
  return [...entries.keys()].filter((name) => !left.has(name)).sort(compareBytes);
}

/** Why a channel's upgrade edges do not lead from each entry to one head; undefined if they do. */
export function chainProblem(entries: ReadonlyMap<string, ChainEntry>): string | undefined {
  const heads = channelHeads(entries);
  const [head] = heads;
  if (head === undefined) return 'no channel head found in graph';
  if (heads.length > 1) return `multiple channel heads found in graph: ${heads.join(', ')}`;
  const skipped = new Set([...entries.values()].flatMap(({ skips }) => skips));
  const chain = new Set([head]);
  for (let entry = entries.get(head); entry !== undefined && !skipped.has(entry.replaces); ) {
    const { replaces } = entry;
    if (chain.has(replaces)) {
      const names = [...chain];
      const cycle = [...names.slice(names.indexOf(replaces)), replaces];
      return `detected cycle in replaces chain of upgrade graph: ${cycle.join(' -> ')}`;
    }
    chain.add(replaces);
    entry = entries.get(replaces);
  }
  const isStranded = (name: string) => !chain.has(name) && !skipped.has(name);
  const stranded = [...entries.keys()].filter(isStranded).sort(compareBytes);
  if (stranded.length === 0) return undefined;
  return `channel contains one or more stranded bundles: ${stranded.join(', ')}`;
}
