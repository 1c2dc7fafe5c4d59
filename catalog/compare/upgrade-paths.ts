import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import {
  isInRange,
  parseRange,
  rangeProblem,
  type Version,
  type VersionRange,
} from '../../resolver/versions/index.ts';
import type { ChannelEntry } from '../blobs/index.ts';
import { channelHeads } from '../validate/index.ts';

/** Maximum comparisons of versions with skipRanges; real channels need some ten thousand. */
const mostComparisons = 4_000_000;

/**
 * The upgrade steps to the head of a channel: for each bundle with a path, the next bundle on a
 * shortest one; undefined for the head itself. As in OLM, an entry upgrades what it replaces,
 * skips, or has in its skipRange. Empty for a channel without exactly one head.
 * @param versions of all bundles that clusters may have, including those that the channel lacks
 * @throws TerminalError for a channel that needs too many comparisons
 */
export function upgradeSteps(
  entries: ReadonlyMap<string, ChannelEntry>,
  versions: ReadonlyMap<string, Version | undefined>,
): ReadonlyMap<string, string | undefined> {
  const [head, other] = channelHeads(entries);
  const steps = new Map<string, string | undefined>();
  if (head === undefined || other !== undefined) return steps;
  steps.set(head, undefined);
  const ranges = new RangeSteps(head, versions, steps);
  // Iterating a Map includes keys that are added meanwhile.
  for (const name of steps.keys()) {
    const entry = entries.get(name);
    if (entry === undefined) continue;
    for (const upgraded of [entry.replaces, ...entry.skips, ...ranges.upgraded(entry.skipRange)]) {
      if (upgraded !== '' && !steps.has(upgraded)) steps.set(upgraded, name);
    }
  }
  return steps;
}

/** Finds bundles by skipRange that have no path yet. */
class RangeSteps {
  readonly #head: string;
  readonly #left: Map<string, Version>;
  readonly #steps: ReadonlyMap<string, unknown>;
  #comparisons = 0;

  constructor(
    head: string,
    versions: ReadonlyMap<string, Version | undefined>,
    steps: ReadonlyMap<string, unknown>,
  ) {
    this.#head = head;
    this.#left = new Map(
      [...versions].flatMap(([name, version]) => (version === undefined ? [] : [[name, version]])),
    );
    this.#steps = steps;
  }

  *upgraded(skipRange: string): Generator<string> {
    const range = readRange(skipRange);
    if (range === undefined) return;
    for (const [name, version] of this.#left) {
      this.#comparisons += 1;
      if (this.#comparisons > mostComparisons) {
        throw new TerminalError(
          `the channel with head ${goQuote(this.#head)} needs more than ${mostComparisons} comparisons of versions with skipRanges`,
        );
      }
      const isReached = this.#steps.has(name);
      if (!isReached && !isInRange(version, range)) continue;
      this.#left.delete(name);
      if (!isReached) yield name;
    }
  }
}

/** Undefined for an empty range, and for an invalid one, which upgrades nothing. */
function readRange(text: string): VersionRange | undefined {
  return text === '' || rangeProblem(text) !== undefined ? undefined : parseRange(text);
}
