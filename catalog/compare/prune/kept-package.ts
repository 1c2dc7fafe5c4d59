import { compareBytes } from '../../../api/byte-order.ts';
import { goQuote } from '../../../api/go-quote.ts';
import { TerminalError } from '../../../core/errors.ts';
import { shortList } from '../../../core/short-list.ts';
import { isInRange } from '../../../resolver/versions/index.ts';
import { chainProblem, channelHeads } from '../../validate/index.ts';
import type { BundleOutline, ChannelOutline, PackageOutline } from '../catalog-outline.ts';
import { byVersion } from '../version-order.ts';
import { connectedEntries } from './connected-entries.ts';
import type { ChosenVersions, PackageSelection, SelectedChannel } from './selection.ts';

interface KeptChannel {
  readonly head: string;
  readonly wanted: Set<string>;
  entries: ReadonlySet<string>;
  /** Number of times that `connect` has computed the entries. */
  rounds: number;
}

/** Maximum rounds, after which the channel is kept whole: each round visits all its entries. */
const mostRounds = 64;

/** The kept part of a package. */
export class KeptPackage {
  readonly outline: PackageOutline;
  readonly #channels = new Map<string, KeptChannel>();
  readonly #stale = new Set<string>();
  readonly #order: (a: string, b: string) => number;

  constructor(outline: PackageOutline) {
    this.outline = outline;
    this.#order = byVersion((name) => outline.bundles.get(name)?.version);
  }

  get channels(): ReadonlyMap<string, { readonly entries: ReadonlySet<string> }> {
    return this.#channels;
  }

  /**
   * Adds the selected entries to the wanted ones.
   * @throws TerminalError if the package lacks a selected channel, or the selected versions
   */
  select(selection: PackageSelection): void {
    const selected = this.#selected(selection);
    for (const { name } of selected) {
      if (!this.outline.channels.has(name)) throw this.#noChannel(name);
    }
    this.selectWhatIsThere(selection);
    const missing = selected.find(({ name }) => !this.#channels.has(name));
    const isNamed = !('which' in selection.channels);
    if (missing === undefined || (!isNamed && this.#channels.size > 0)) return;
    throw this.#noVersion(selected, isNamed ? missing : undefined);
  }

  /** Adds the selected entries that the package has to the wanted ones. */
  selectWhatIsThere(selection: PackageSelection): void {
    for (const { name, versions } of this.#selected(selection)) {
      const channel = this.outline.channels.get(name);
      const names = channel === undefined ? [] : this.#chosen(channel, versions);
      if (names.length > 0) this.want(name, names);
    }
  }

  want(channelName: string, bundles: Iterable<string>): void {
    const kept = this.#channels.get(channelName) ?? this.#newChannel(channelName);
    this.#channels.set(channelName, kept);
    for (const name of bundles) kept.wanted.add(name);
    this.#stale.add(channelName);
  }

  /**
   * Computes the kept entries: the wanted ones, and those between them.
   * @throws TerminalError for a kept entry without a bundle blob
   */
  connect(): void {
    for (const name of this.#stale) {
      const kept = this.#channels.get(name);
      const channel = this.outline.channels.get(name);
      if (kept === undefined || channel === undefined) continue;
      kept.rounds += 1;
      const { head } = kept;
      const compare = this.#order;
      const all = new Set(channel.entries.keys());
      const needed = kept.wanted.union(kept.entries);
      const graph = { entries: channel.entries, head, compare };
      kept.entries = kept.rounds > mostRounds ? all : connectedEntries(graph, needed);
      for (const entry of kept.entries) this.#checkBundle(name, entry);
    }
    this.#stale.clear();
  }

  *bundles(): Generator<BundleOutline> {
    const names = new Set([...this.#channels.values()].flatMap(({ entries }) => [...entries]));
    for (const name of names) {
      const bundle = this.outline.bundles.get(name);
      if (bundle !== undefined) yield bundle;
    }
  }

  /** Kept entries that the selection and dependencies do not name, by channel. */
  *between(): Generator<{ readonly channel: string; readonly names: readonly string[] }> {
    for (const [channel, { entries, wanted }] of this.#channels) {
      const names = [...entries].filter((name) => !wanted.has(name));
      if (names.length > 0) yield { channel, names: names.sort(this.#order) };
    }
  }

  /**
   * The default channel of the kept channels: `wanted`, else the package's own, else the one with
   * the highest head.
   * @throws TerminalError if `wanted` is not kept
   */
  defaultChannel(wanted?: string): string {
    const { name, defaultChannel } = this.outline;
    if (wanted !== undefined) {
      if (this.#channels.has(wanted)) return wanted;
      throw new TerminalError(
        `package ${goQuote(name)}: default channel ${goQuote(wanted)} is not among the kept channels: ${this.#names()}`,
      );
    }
    if (this.#channels.has(defaultChannel)) return defaultChannel;
    const [highest = ''] = [...this.#channels.keys()].sort(
      (a, b) => this.#order(this.#top(b), this.#top(a)) || compareBytes(a, b),
    );
    return highest;
  }

  #selected({ channels }: PackageSelection): readonly SelectedChannel[] {
    if (!('which' in channels)) return channels;
    const { which, versions } = channels;
    const { defaultChannel, channels: all } = this.outline;
    const names = which === 'default' ? [defaultChannel] : [...all.keys()];
    return names.map((name) => ({ name, versions }));
  }

  #chosen(channel: ChannelOutline, versions: ChosenVersions): readonly string[] {
    const names = [...channel.entries.keys()];
    if (versions === 'all') return names;
    if (versions === 'head') return channelHeads(channel.entries);
    return names.filter((name) => {
      const version = this.outline.bundles.get(name)?.version;
      return version !== undefined && isInRange(version, versions.range);
    });
  }

  #newChannel(name: string): KeptChannel {
    const channel = this.outline.channels.get(name);
    if (channel === undefined) throw this.#noChannel(name);
    const problem = chainProblem(channel.entries);
    const [head] = channelHeads(channel.entries);
    if (head === undefined || problem !== undefined) {
      throw new TerminalError(`${this.#place(name)}: ${problem}`);
    }
    return { head, wanted: new Set(), entries: new Set(), rounds: 0 };
  }

  #checkBundle(channel: string, name: string): void {
    if (this.outline.bundles.has(name)) return;
    throw new TerminalError(
      `${this.#place(channel)}: entry ${goQuote(name)} has no olm.bundle blob`,
    );
  }

  #noChannel(name: string): TerminalError {
    const names = [...this.outline.channels.keys()].sort(compareBytes);
    return new TerminalError(
      `package ${goQuote(this.outline.name)} has no channel ${goQuote(name)}: it has ${shortList(names, 10)}`,
    );
  }

  #noVersion(selected: readonly SelectedChannel[], missing?: SelectedChannel): TerminalError {
    const place =
      missing === undefined ? `package ${goQuote(this.outline.name)}` : this.#place(missing.name);
    const versions = (missing ?? selected[0])?.versions;
    const wanted = typeof versions === 'object' ? ` in range ${goQuote(versions.text)}` : '';
    const entries =
      missing === undefined ? undefined : this.outline.channels.get(missing.name)?.entries;
    const names = [...(entries ?? this.outline.bundles).keys()];
    const there = shortList(
      names.sort((a, b) => this.#order(b, a)),
      10,
    );
    return new TerminalError(`${place} has no version${wanted}: it has ${there || 'none'}`);
  }

  #place(channel: string): string {
    return `package ${goQuote(this.outline.name)}, channel ${goQuote(channel)}`;
  }

  #names(): string {
    return shortList([...this.#channels.keys()].sort(compareBytes), 10);
  }

  /** The head of the kept entries. */
  #top(channel: string): string {
    const entries = this.outline.channels.get(channel)?.entries ?? new Map();
    const kept = this.#channels.get(channel)?.entries ?? new Set();
    const [head = ''] = channelHeads(new Map([...entries].filter(([name]) => kept.has(name))));
    return head;
  }
}
