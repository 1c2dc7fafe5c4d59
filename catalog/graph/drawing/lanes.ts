import { entriesByName, type PackageChannel } from '../package-channel.ts';
import type { BundleNode } from '../package-graph.ts';

/**
 * The sign in each row of a channel's column: `|` for a replaces edge, or for the line from the
 * channel's name to its highest version; `:` for skips edges only; a space for neither.
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
    // A bundle of another channel has a row, but no place in this column.
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

/** The rows between the ends of any span. Takes time linear in the spans and rows. */
class Spans {
  /** Number of spans over each row, minus that of the row before. */
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
