import { goQuote } from '../../api/go-quote.ts';
import type { ChannelEntry } from './package-content.ts';

export type ChannelLink = Pick<ChannelEntry, 'name' | 'replaces' | 'skips'>;

export interface ChannelPlace {
  readonly packageName: string;
  readonly channel: string;
}

/** A channel whose entries have no order; the message is OLM's. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError';
}

/**
 * The entries of one channel from its head down the chain of `replaces`, without those that another
 * one skips and those that the chain does not reach. Of entries with one name the last is linked to.
 *
 * @throws ChannelError if there is no head, more than one, or a cycle below it.
 */
export function channelOrder<Entry extends ChannelLink>(
  entries: readonly Entry[],
  { packageName, channel }: ChannelPlace,
): readonly Entry[] {
  if (entries.length === 0) return [];
  const graph = new ChannelGraph(entries);
  const place = `in channel ${goQuote(channel)} of package ${goQuote(packageName)}`;
  const heads = entries.filter((entry) => !graph.isReplaced(entry));
  const [head, second] = heads;
  if (head === undefined)
    throw new ChannelError(
      `no channel heads (entries not replaced by another entry) found ${place}`,
    );
  for (const each of heads)
    if (graph.leadsToCycle(each))
      throw new ChannelError(
        `a cycle exists in the chain of replacement beginning with ${goQuote(each.name)} ${place}`,
      );
  if (second === undefined) return graph.chain(head);
  throw new ChannelError(
    `a unique replacement chain within a channel is required to determine the relative order between channel entries, but ${heads.length} replacement chains were found ${place}: ${heads.map((each) => graph.outline(each)).join(', ')}`,
  );
}

/** What a walk from an entry to the end of its chain finds. */
interface Walk {
  readonly isCyclic: boolean;
  /** Of the entries that nobody skips. */
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

const noWalk: Walk = { isCyclic: false, first: '', last: '', count: 0 };

class ChannelGraph<Entry extends ChannelLink> {
  readonly #next = new Map<Entry, Entry>();
  readonly #replaced = new Set<Entry>();
  readonly #skipped = new Set<string>();
  /** Heads share most of their chains, so each entry is walked once for all of them. */
  readonly #walks = new Map<Entry, Walk>();

  constructor(entries: readonly Entry[]) {
    const byName = new Map(entries.map((entry) => [entry.name, entry]));
    for (const entry of entries) {
      const replaced = byName.get(entry.replaces ?? '');
      if (replaced !== undefined && entry.replaces !== '') {
        this.#next.set(entry, replaced);
        this.#replaced.add(replaced);
      }
      for (const name of entry.skips) {
        const skipped = byName.get(name);
        if (skipped === undefined) continue;
        this.#skipped.add(name);
        this.#replaced.add(skipped);
      }
    }
  }

  isReplaced(entry: Entry): boolean {
    return this.#replaced.has(entry);
  }

  leadsToCycle(head: Entry): boolean {
    return this.#walk(head).isCyclic;
  }

  chain(head: Entry): readonly Entry[] {
    const chain: Entry[] = [];
    for (let at: Entry | undefined = head; at !== undefined; at = this.#next.get(at))
      if (!this.#skipped.has(at.name)) chain.push(at);
    return chain;
  }

  outline(head: Entry): string {
    const { first, last, count } = this.#walk(head);
    if (count === 0) return '[]';
    return count === 1 ? first : `${first}...${last}`;
  }

  #walk(head: Entry): Walk {
    const path = new Set<Entry>();
    let at: Entry | undefined = head;
    while (at !== undefined && !path.has(at) && !this.#walks.has(at)) {
      path.add(at);
      at = this.#next.get(at);
    }
    let walk = at === undefined ? noWalk : (this.#walks.get(at) ?? { ...noWalk, isCyclic: true });
    for (const entry of [...path].toReversed()) {
      walk = this.#prepend(entry, walk);
      this.#walks.set(entry, walk);
    }
    return walk;
  }

  #prepend({ name }: Entry, walk: Walk): Walk {
    if (this.#skipped.has(name)) return walk;
    return {
      ...walk,
      first: name,
      last: walk.count === 0 ? name : walk.last,
      count: walk.count + 1,
    };
  }
}
