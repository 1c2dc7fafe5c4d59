import { entriesByName, type PackageChannel } from './package-channel.ts';
import type { BundleNode } from './package-graph.ts';

/**
 * What passes each row of a channel's column: `|` an edge by replaces, or the line from the channel's
 * name to its highest version; `:` an edge by skips alone; a space where nothing does.
 */
export function lanesOf(
  channel: PackageChannel,
  bundles: readonly BundleNode[],
): readonly string[] {
  const rows = new Map(bundles.map(({ name }, row) => [name, row]));
  const replaces = new Spans(bundles.length);
  const skips = new Spans(bundles.length);
  const entries = entriesByName(channel);
  let top = bundles.length;
  for (const { name, replaces: replaced, skips: skipped } of channel.entries) {
    const row = rows.get(name) ?? 0;
    top = Math.min(top, row);
    // A name of another channel has a row, and no place in this column.
    const target = (other: string): number => (entries.has(other) ? (rows.get(other) ?? row) : row);
    replaces.add(row, target(replaced));
    for (const each of skipped) skips.add(row, target(each));
  }
  replaces.add(-1, top);
  const [solid, dotted] = [replaces.covered(), skips.covered()];
  return bundles.map((_, row) => {
    if (solid[row] === true) return '|';
    return dotted[row] === true ? ':' : ' ';
  });
}

/** Which rows lie between the ends of any of many spans, in time for each span and row once. */
class Spans {
  /** How many spans more, or fewer, cover a row than the one before. */
  readonly #changes: number[];

  constructor(rows: number) {
    this.#changes = Array.from({ length: rows + 1 }, () => 0);
  }

  add(one: number, other: number): void {
    const [from, to] = [Math.min(one, other) + 1, Math.max(one, other)];
    if (from >= to) return;
    this.#changes[from] = (this.#changes[from] ?? 0) + 1;
    this.#changes[to] = (this.#changes[to] ?? 0) - 1;
  }

  covered(): readonly boolean[] {
    let open = 0;
    return this.#changes.map((change) => {
      open += change;
      return open > 0;
    });
  }
}
