import { entriesByName, type PackageChannel } from '../package-channel.ts';
import type { BundleNode } from '../package-graph.ts';

/** A line from one row of a column to another. */
export interface ColumnEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: 'replaces' | 'skips';
  /** Whether no bundle of the channel lies between. */
  readonly isDirect: boolean;
}

/** The edges between the entries of a channel, by the rows of a package's bundles. */
export class ColumnEdges {
  readonly #channel: PackageChannel;
  /** Row of each entry, and its index among the rows of the channel. */
  readonly #places: ReadonlyMap<string, { readonly row: number; readonly index: number }>;
  /** Row of the highest version; undefined for a channel without entries. */
  readonly top: number | undefined;

  constructor(channel: PackageChannel, bundles: readonly BundleNode[]) {
    this.#channel = channel;
    const entries = entriesByName(channel);
    const own = bundles
      .map(({ name }, row) => ({ name, row }))
      .filter(({ name }) => entries.has(name));
    this.#places = new Map(own.map(({ name, row }, index) => [name, { row, index }]));
    this.top = own[0]?.row;
  }

  /** Edges within the channel; none from an entry to itself. */
  *all(): Generator<ColumnEdge> {
    for (const { name, replaces, skips } of this.#channel.entries) {
      yield* this.#edge(name, replaces, 'replaces');
      for (const skipped of new Set(skips)) yield* this.#edge(name, skipped, 'skips');
    }
  }

  *#edge(name: string, other: string, kind: ColumnEdge['kind']): Generator<ColumnEdge> {
    const [from, to] = [this.#places.get(name), this.#places.get(other)];
    if (from === undefined || to === undefined || name === other) return;
    const isDirect = kind === 'replaces' && Math.abs(from.index - to.index) === 1;
    yield { from: from.row, to: to.row, kind, isDirect };
  }
}
