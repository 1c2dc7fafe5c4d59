import type { Budget } from '../budget.ts';
import { isInRange, rangeSteps, type Version, type VersionRange } from '../versions/index.ts';
import type { ChannelEntry } from './package-content.ts';
import { readSkipRange, type UpgradeStart } from './successors.ts';

/** The last step of a shortest path to a bundle. */
export interface LastStep<Entry> {
  readonly from: string;
  readonly entry: Entry;
}

/** The entries of bundles that exist, and the versions of these bundles. */
export interface UpgradeGraph<Entry> {
  readonly entries: readonly Entry[];
  readonly versions: ReadonlyMap<string, Version | undefined>;
}

/**
 * The bundles that upgrades lead to, nearest first, without the start.
 * @throws BudgetError
 */
export function upgradePaths<Entry extends ChannelEntry>(
  start: UpgradeStart,
  { entries, versions }: UpgradeGraph<Entry>,
  budget: Budget,
): ReadonlyMap<string, LastStep<Entry>> {
  const upgradesOf = byUpgraded(entries, budget);
  const ranges = new SkipRanges(entries, budget);
  const reached = new Set([start.name]);
  const paths = new Map<string, LastStep<Entry>>();
  // Iterating a Set includes values that are added meanwhile.
  for (const from of reached) {
    budget.take(stepsOfBundle);
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

/** Steps of looking at an entry or bundle. */
const stepsOfBundle = 10;

/** The entries that replace or skip each bundle. */
function byUpgraded<Entry extends ChannelEntry>(
  entries: readonly Entry[],
  budget: Budget,
): ReadonlyMap<string, readonly Entry[]> {
  const upgrades = new Map<string, Entry[]>();
  for (const entry of entries) {
    budget.take(stepsOfBundle + entry.skips.length);
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
  readonly #left = new Map<Entry, VersionRange>();
  readonly #budget: Budget;

  constructor(entries: readonly Entry[], budget: Budget) {
    this.#budget = budget;
    for (const entry of entries) {
      const { skipRange = '' } = entry;
      budget.take(skipRange.length);
      const range = readSkipRange(skipRange);
      if (range !== undefined) this.#left.set(entry, range);
    }
  }

  *upgradesOf(version: Version | undefined, reached: ReadonlySet<string>): Generator<Entry> {
    if (version === undefined) return;
    for (const [entry, range] of this.#left) {
      this.#budget.take(rangeSteps(range));
      const isReached = reached.has(entry.name);
      if (!isReached && !isInRange(version, range)) continue;
      this.#left.delete(entry);
      if (!isReached) yield entry;
    }
  }
}
