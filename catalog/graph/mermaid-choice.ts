import type { ChannelEntry, OlmChannel } from '../blobs/index.ts';
import { compareVersions, isInRange, parseRange, VersionError } from '../versions/index.ts';
import type { BundleVersions } from './bundle-versions.ts';

/** Which part of a catalog is drawn. */
export interface MermaidChoice {
  /** The only package; all where absent or empty. */
  readonly package?: string | undefined;
  /** Bundle with the lowest version that is drawn; all where absent or empty. */
  readonly minimumEdge?: string | undefined;
}

/** Cuts channels to what is drawn of them, by opm's rules. */
export class ChosenChannels {
  readonly #versions: BundleVersions;
  readonly #package: string;
  readonly #minimum: string;
  /** Package of the minimum; empty where no channel has it. */
  readonly #home: string;

  /** `channels` are in the order in which they are drawn: the first that has the minimum counts. */
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

  /** Undefined where nothing of the channel is drawn. */
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

/** The entry without what lies below the minimum; nothing where it is itself below. */
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
