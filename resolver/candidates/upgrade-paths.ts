import { isInRange, type Version, type VersionRange } from '../versions/index.ts';
import type { ChannelEntry } from './package-content.ts';
import { readSkipRange, type UpgradeStart } from './successors.ts';
import { maximumComparisons, UpgradeLimitError } from './upgrade-steps.ts';

/** The last step of a shortest path to a bundle. */
export interface LastStep<Entry> {
  readonly from: string;
  readonly entry: Entry;
}

/**
 * The bundles that upgrades lead to, nearest first, without the start.
 * @param entries of bundles that exist
 * @param versions of these bundles
 * @throws UpgradeLimitError
 */
export function upgradePaths<Entry extends ChannelEntry>(
  start: UpgradeStart,
  entries: readonly Entry[],
  versions: ReadonlyMap<string, Version | undefined>,
): ReadonlyMap<string, LastStep<Entry>> {
  const upgradesOf = byUpgraded(entries);
  const ranges = new SkipRanges(start.name, entries);
  const reached = new Set([start.name]);
  const paths = new Map<string, LastStep<Entry>>();
  // Iterating a Set includes values that are added meanwhile.
  for (const from of reached) {
    const version = from === start.name ? start.version : versions.get(from);
    const named = upgradesOf.get(from) ?? [];
    for (const entry of [...named, ...ranges.upgradesOf(version, reached)]) {
      if (reached.has(entry.name)) continue;
      reached.add(entry.name);
      paths.set(entry.name, { from, entry });
    }
  }
  return paths;
}

/** The entries that replace or skip each bundle. */
function byUpgraded<Entry extends ChannelEntry>(
  entries: readonly Entry[],
): ReadonlyMap<string, readonly Entry[]> {
  const upgrades = new Map<string, Entry[]>();
  for (const entry of entries) {
    for (const upgraded of [entry.replaces ?? '', ...entry.skips]) {
      const same = upgrades.get(upgraded);
      if (same === undefined) upgrades.set(upgraded, [entry]);
      else same.push(entry);
    }
  }
  return upgrades;
}

/** The skipRanges of entries that have no path yet. */
class SkipRanges<Entry extends ChannelEntry> {
  readonly #start: string;
  readonly #left = new Map<Entry, VersionRange>();
  #comparisons = 0;

  constructor(start: string, entries: readonly Entry[]) {
    this.#start = start;
    for (const entry of entries) {
      const range = readSkipRange(entry.skipRange);
      if (range !== undefined) this.#left.set(entry, range);
    }
  }

  *upgradesOf(version: Version | undefined, reached: ReadonlySet<string>): Generator<Entry> {
    if (version === undefined) return;
    for (const [entry, range] of this.#left) {
      this.#comparisons += 1;
      if (this.#comparisons > maximumComparisons) throw new UpgradeLimitError('from', this.#start);
      const isReached = reached.has(entry.name);
      if (!isReached && !isInRange(version, range)) continue;
      this.#left.delete(entry);
      if (!isReached) yield entry;
    }
  }
}
