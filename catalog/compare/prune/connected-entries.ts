import type { ChannelEntry } from '../../blobs/index.ts';
import { chainProblem } from '../../validate/index.ts';

export interface ChannelGraph {
  readonly entries: ReadonlyMap<string, ChannelEntry>;
  /** The only entry that no other replaces or skips. */
  readonly head: string;
  /** Order of preference among entries that skip the same one: the lower version first. */
  readonly compare: (a: string, b: string) => number;
}

/**
 * The wanted entries of a valid channel, and the fewest entries between them that keep the channel
 * valid: it has one head, from which each entry is reached. Edges stay unchanged.
 */
export function connectedEntries(
  graph: ChannelGraph,
  wanted: ReadonlySet<string>,
): ReadonlySet<string> {
  if (wanted.size === graph.entries.size) return wanted;
  if (chainProblem(only(graph.entries, wanted)) === undefined) return wanted;
  const kept = withPathsToHead(graph, wanted);
  return withoutTop(graph, { kept, wanted });
}

function only(
  entries: ReadonlyMap<string, ChannelEntry>,
  names: ReadonlySet<string>,
): ReadonlyMap<string, ChannelEntry> {
  return new Map([...entries].filter(([name]) => names.has(name)));
}

/**
 * For each kept entry up to the head, adds an entry that skips it; if none does, the entry that
 * replaces it. So each kept entry is skipped by a kept one, or lies on the head's replaces chain.
 */
function withPathsToHead(
  { entries, head, compare }: ChannelGraph,
  wanted: ReadonlySet<string>,
): Set<string> {
  const skippers = skippersOf(entries);
  const replacers = new Map([...entries.values()].map(({ name, replaces }) => [replaces, name]));
  // If several entries replace one, the entry on the head's chain counts.
  for (const { name, replaces } of chainFrom(entries, head)) replacers.set(replaces, name);
  const kept = new Set([...wanted, head]);
  for (const name of kept) {
    const skipping = skippers.get(name) ?? [];
    if (name === head || skipping.some((each) => kept.has(each))) continue;
    const next = skipping.toSorted(compare)[0] ?? replacers.get(name);
    if (next !== undefined) kept.add(next);
  }
  return kept;
}

/** Names of the entries that skip an entry, by its name. */
function skippersOf(
  entries: ReadonlyMap<string, ChannelEntry>,
): ReadonlyMap<string, readonly string[]> {
  const skippers = new Map<string, string[]>();
  for (const { name, skips } of entries.values()) {
    for (const skipped of skips) {
      const skipping = skippers.get(skipped);
      if (skipping === undefined) skippers.set(skipped, [name]);
      else skipping.push(name);
    }
  }
  return skippers;
}

function* chainFrom(
  entries: ReadonlyMap<string, ChannelEntry>,
  head: string,
): Generator<ChannelEntry> {
  const seen = new Set<string>();
  for (let entry = entries.get(head); entry !== undefined && !seen.has(entry.name); ) {
    seen.add(entry.name);
    yield entry;
    entry = entries.get(entry.replaces);
  }
}

interface KeptEntries {
  readonly kept: Set<string>;
  readonly wanted: ReadonlySet<string>;
}

/** Drops unwanted heads, while the rest has one head that reaches all of it. */
function withoutTop(graph: ChannelGraph, { kept, wanted }: KeptEntries): ReadonlySet<string> {
  const edges = new IncomingEdges(graph.entries, kept);
  for (let head: string | undefined = graph.head; head !== undefined && !wanted.has(head); ) {
    const next = edges.headWithout(head);
    if (next !== undefined) kept.delete(head);
    head = next;
  }
  return kept;
}

/** Number of kept entries that replace or skip an entry, by its name. */
class IncomingEdges {
  readonly #entries: ReadonlyMap<string, ChannelEntry>;
  readonly #kept: ReadonlySet<string>;
  readonly #all = new Map<string, number>();
  readonly #skips = new Map<string, number>();

  constructor(entries: ReadonlyMap<string, ChannelEntry>, kept: ReadonlySet<string>) {
    this.#entries = entries;
    this.#kept = kept;
    for (const name of kept) this.#count(name, 1);
  }

  /** The only head after removal of the present one; undefined if the rest would be invalid. */
  headWithout(head: string): string | undefined {
    this.#count(head, -1);
    const { replaces = '', skips = [] } = this.#entries.get(head) ?? {};
    const left = new Set([replaces, ...skips].filter((name) => this.#kept.has(name)));
    const next = [...left].find((name) => this.#all.get(name) === 0);
    const unskipped = [...left].filter((name) => (this.#skips.get(name) ?? 0) === 0);
    return unskipped.every((name) => name === next) ? next : undefined;
  }

  #count(name: string, step: 1 | -1): void {
    const { replaces = '', skips = [] } = this.#entries.get(name) ?? {};
    for (const target of [replaces, ...skips]) {
      this.#all.set(target, (this.#all.get(target) ?? 0) + step);
    }
    for (const target of skips) this.#skips.set(target, (this.#skips.get(target) ?? 0) + step);
  }
}
