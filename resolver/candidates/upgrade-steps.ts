import { goQuote } from '../../api/go-quote.ts';
import { isInRange, type Version } from '../versions/index.ts';
import type { ChannelEntry } from './package-content.ts';
import { readSkipRange } from './successors.ts';

/** Maximum comparisons of versions with skipRanges; real channels need some ten thousand. */
const maximumComparisons = 4_000_000;

/** Upgrade paths to a bundle need too many comparisons of versions with skipRanges. */
export class UpgradeLimitError extends Error {
  override readonly name = 'UpgradeLimitError';
  /** What they need, after "need": `more than 4 comparisons of versions with skipRanges`. */
  readonly cost = `more than ${maximumComparisons} comparisons of versions with skipRanges`;

  constructor(bundle: string) {
    super();
    this.message = `upgrade paths to ${goQuote(bundle)} need ${this.cost}`;
  }
}

/**
 * The upgrade steps to a bundle: for each bundle with a path, the next bundle on a shortest one;
 * undefined for the target itself. An entry upgrades what it replaces, skips, or has in its
 * skipRange.
 * @param versions of all bundles that may be upgraded, including those without an entry
 * @throws UpgradeLimitError
 */
export function upgradeSteps(
  target: string,
  entries: Iterable<ChannelEntry>,
  versions: ReadonlyMap<string, Version | undefined>,
): ReadonlyMap<string, string | undefined> {
  const entriesOf = byName(entries);
  const steps = new Map<string, string | undefined>([[target, undefined]]);
  const ranges = new RangeSteps(target, versions, steps);
  // Iterating a Map includes keys that are added meanwhile.
  for (const name of steps.keys()) {
    for (const entry of entriesOf.get(name) ?? []) {
      const { replaces = '', skips, skipRange = '' } = entry;
      for (const upgraded of [replaces, ...skips, ...ranges.upgraded(skipRange)]) {
        if (upgraded !== '' && !steps.has(upgraded)) steps.set(upgraded, name);
      }
    }
  }
  return steps;
}

/** Several channels may have an entry of one name. */
function byName(entries: Iterable<ChannelEntry>): ReadonlyMap<string, readonly ChannelEntry[]> {
  const found = new Map<string, ChannelEntry[]>();
  for (const entry of entries) {
    const same = found.get(entry.name);
    if (same === undefined) found.set(entry.name, [entry]);
    else same.push(entry);
  }
  return found;
}

/** Finds bundles by skipRange that have no path yet. */
class RangeSteps {
  readonly #target: string;
  readonly #left: Map<string, Version>;
  readonly #steps: ReadonlyMap<string, unknown>;
  #comparisons = 0;

  constructor(
    target: string,
    versions: ReadonlyMap<string, Version | undefined>,
    steps: ReadonlyMap<string, unknown>,
  ) {
    this.#target = target;
    this.#left = new Map(
      [...versions].flatMap(([name, version]) => (version === undefined ? [] : [[name, version]])),
    );
    this.#steps = steps;
  }

  *upgraded(skipRange: string): Generator<string> {
    const range = readSkipRange(skipRange);
    if (range === undefined) return;
    for (const [name, version] of this.#left) {
      this.#comparisons += 1;
      if (this.#comparisons > maximumComparisons) throw new UpgradeLimitError(this.#target);
      const isReached = this.#steps.has(name);
      if (!isReached && !isInRange(version, range)) continue;
      this.#left.delete(name);
      if (!isReached) yield name;
    }
  }
}
