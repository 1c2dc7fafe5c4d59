import { compareBytes } from '../../../api/byte-order.ts';
import { chainProblem, channelHeads } from '../../validate/index.ts';
import type { BundleOutline, ChannelOutline, PackageOutline } from '../catalog-outline.ts';
import type { Requirement, Verdict } from '../requirement.ts';

/** A bundle of a channel that meets a requirement, or that may meet it. */
export interface PreferredEntry {
  readonly outline: PackageOutline;
  readonly channel: string;
  readonly name: string;
  readonly isCertain: boolean;
}

interface Wish {
  readonly requirement: Requirement;
  /** Kept channels, which come first. */
  readonly kept: ReadonlyMap<string, unknown> | undefined;
}

/**
 * Finds the entry that OLM's resolver prefers: the default channel, then others by name; in each
 * from the head down.
 */
export class PreferredEntries {
  readonly #verdict: (requirement: Requirement, bundle: BundleOutline) => Verdict;
  readonly #order = new Map<ChannelOutline, readonly string[]>();

  constructor(verdict: (requirement: Requirement, bundle: BundleOutline) => Verdict) {
    this.#verdict = verdict;
  }

  of(outline: PackageOutline, { requirement, kept }: Wish): PreferredEntry | undefined {
    let possible: PreferredEntry | undefined;
    for (const channel of channelsOf(outline, kept)) {
      for (const name of this.#namesOf(channel)) {
        const bundle = outline.bundles.get(name);
        const verdict = bundle === undefined ? false : this.#verdict(requirement, bundle);
        if (verdict === false) continue;
        const found = { outline, channel: channel.name, name, isCertain: verdict === true };
        if (found.isCertain) return found;
        possible ??= found;
      }
    }
    return possible;
  }

  #namesOf(channel: ChannelOutline): readonly string[] {
    const names = this.#order.get(channel) ?? fromHeadDown(channel);
    this.#order.set(channel, names);
    return names;
  }
}

function channelsOf(
  { channels, defaultChannel }: PackageOutline,
  kept: ReadonlyMap<string, unknown> | undefined,
): readonly ChannelOutline[] {
  const rank = ({ name }: ChannelOutline) =>
    (kept?.has(name) === true ? 0 : 2) + (name === defaultChannel ? 0 : 1);
  return [...channels.values()].sort((a, b) => rank(a) - rank(b) || compareBytes(a.name, b.name));
}

/** The replaces chain of the head, then the skipped entries; empty for an invalid channel. */
function fromHeadDown({ entries }: ChannelOutline): readonly string[] {
  if (chainProblem(entries) !== undefined) return [];
  const names = new Set<string>();
  for (let name = channelHeads(entries)[0] ?? ''; entries.has(name) && !names.has(name); ) {
    names.add(name);
    name = entries.get(name)?.replaces ?? '';
  }
  return [...names.union(new Set(entries.keys()))];
}
