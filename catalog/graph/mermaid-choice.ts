import {
  compareVersions,
  isInRange,
  parseRange,
  VersionError,
} from '../../resolver/versions/index.ts';
import type { ChannelEntry, OlmChannel } from '../blobs/index.ts';
import type { BundleVersions } from './bundle-versions.ts';

/** The part of a catalog to draw. */
export interface MermaidChoice {
  /** The only package to draw; undefined or empty for all. */
  readonly package?: string | undefined;
  /** Bundle with the lowest version to draw; undefined or empty for all. */
  readonly minimumEdge?: string | undefined;
}

/** Selects the drawn entries of channels, by opm's rules. */
export class ChosenChannels {
  readonly #versions: BundleVersions;
  readonly #package: string;
  readonly #minimum: string;
  /** Package of the minimum; empty if no channel has the minimum. */
  readonly #home: string;

  /** `channels` must be in drawing order: the first one with the minimum decides the package. */
  constructor(
    channels: readonly OlmChannel[],
    versions: BundleVersions,
    { package: owner = '', minimumEdge = '' }: MermaidChoice,
  ) {
    this.#versions = versions;
    this.#package = owner;
    this.#minimum = minimumEdge;
    const hasMinimum = ({ entries }: OlmChannel): boolean =>
      entries.some(({ name }) => name === minimumEdge);
    this.#home = minimumEdge === '' ? '' : (channels.find(hasMinimum)?.package ?? '');
  }

  /** The channel with its drawn entries; undefined if it has none. */
  of(channel: OlmChannel): OlmChannel | undefined {
    if (this.#package === '' && this.#minimum === '') return channel;
    if (this.#package !== '' && channel.package !== this.#package) return undefined;
    if (this.#home !== '' && channel.package !== this.#home) return undefined;
    const entries =
      this.#minimum === ''
        ? channel.entries
        : channel.entries.flatMap((entry) => above(entry, this.#minimum, this.#versions));
    return entries.length === 0 ? undefined : { ...channel, entries };
  }
}

/**
 * The entry without edges below the minimum; empty if it loses all its edges, or is itself below.
 */
function above(entry: ChannelEntry, minimum: string, versions: BundleVersions): ChannelEntry[] {
  const { name } = entry;
  const bare = { name, replaces: '', skips: [], skipRange: '' };
  if (name === minimum) return [bare];
  const floor = versions.of(minimum);
  const isAbove = (other: string): boolean => compareVersions(versions.of(other), floor) >= 0;
  const replaces = entry.replaces !== '' && isAbove(entry.replaces) ? entry.replaces : '';
  const skips = entry.skips.filter(isAbove);
  const skipRange = includes(entry.skipRange, floor) ? entry.skipRange : '';
  if (hasEdges({ replaces, skips, skipRange })) return [{ name, replaces, skips, skipRange }];
  return !hasEdges(entry) && isAbove(name) ? [bare] : [];
}

function hasEdges({ replaces, skips, skipRange }: Omit<ChannelEntry, 'name'>): boolean {
  return replaces !== '' || skips.length > 0 || skipRange !== '';
}

function includes(range: string, floor: Parameters<typeof isInRange>[0]): boolean {
  if (range === '') return false;
  try {
    return isInRange(floor, parseRange(range));
  } catch (error) {
    if (error instanceof VersionError) return false;
    throw error;
  }
}
