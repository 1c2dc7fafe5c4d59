import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import type { ChannelEntry } from '../blobs/index.ts';
import { channelHeads } from '../validate/index.ts';
import {
  isInRange,
  parseRange,
  rangeProblem,
  type Version,
  type VersionRange,
} from '../versions/index.ts';

/** Comparisons of versions with skipRanges; real channels need some ten thousand. */
const mostComparisons = 4_000_000;

/**
 * How bundles are upgraded to the head of a channel: of each that has a path, the next bundle on a
 * shortest one, and of the head itself undefined. An entry upgrades what it replaces, skips, or has in
 * its skipRange, as in OLM. A channel without exactly one head upgrades nothing.
 * @param versions of all bundles that may be installed, also of those that the channel does not have
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
  // Grows while it is read: what a bundle upgrades is reached from it.
  for (const name of steps.keys()) {
    const entry = entries.get(name);
    if (entry === undefined) continue;
    for (const upgraded of [entry.replaces, ...entry.skips, ...ranges.upgraded(entry.skipRange)]) {
      if (upgraded !== '' && !steps.has(upgraded)) steps.set(upgraded, name);
    }
  }
  return steps;
}

/** Versions that no path was found for yet, by skipRange. */
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

/** Undefined where there is none, and for one that cannot be read, which upgrades nothing. */
function readRange(text: string): VersionRange | undefined {
  return text === '' || rangeProblem(text) !== undefined ? undefined : parseRange(text);
}
