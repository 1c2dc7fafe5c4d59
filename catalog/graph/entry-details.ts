import { entriesByName, type ReachedEntry } from './package-channel.ts';
import type { BundleNode, PackageGraph } from './package-graph.ts';

interface NamedChannel {
  readonly name: string;
  readonly entries: ReadonlyMap<string, ReachedEntry>;
}

/** One line of details for each bundle of a graph, without its name. */
export class EntryDetails {
  readonly #channels: readonly NamedChannel[];

  constructor({ channels }: PackageGraph) {
    this.#channels = channels.map((channel) => ({
      name: oneLine(channel.name),
      entries: entriesByName(channel),
    }));
  }

  /**
   * Deprecation and version, then what the bundle replaces and skips: by channel if channels
   * differ.
   */
  of(bundle: BundleNode): string {
    const { name, version, deprecation, isInCatalog } = bundle;
    const facts = [
      deprecation === undefined ? '' : `deprecated: ${sentence(deprecation)}`,
      isInCatalog ? '' : 'not in the catalog',
      version === undefined || name.includes(version) ? '' : `version ${version}`,
    ];
    return [...facts, ...this.#edges(name)].filter((text) => text !== '').join('; ');
  }

  #edges(name: string): readonly string[] {
    const channels = new Map<string, string[]>();
    for (const { name: channel, entries } of this.#channels) {
      const entry = entries.get(name);
      if (entry === undefined) continue;
      const text = edgeTexts(entry).join(', ');
      channels.set(text, [...(channels.get(text) ?? []), channel]);
    }
    if (channels.size < 2) return [...channels.keys()];
    return [...channels].map(([text, names]) =>
      text === '' ? '' : `in ${names.join(' and ')} ${text}`,
    );
  }
}

interface Edges {
  readonly replaces: string;
  readonly skips: readonly string[];
  readonly skipRange: string;
}

function edgeTexts({ replaces, skips, skipRange }: Edges): readonly string[] {
  return [
    ...(replaces === '' ? [] : [`replaces ${oneLine(replaces)}`]),
    ...(skips.length === 0 ? [] : [`skips ${skips.map(oneLine).join(' ')}`]),
    ...(skipRange === '' ? [] : [`skips versions ${oneLine(skipRange)}`]),
  ];
}

/** A message as part of a sentence. */
export function sentence(text: string): string {
  return oneLine(text).replace(/\.$/, '');
}

/** Names and messages of a catalog may have line breaks. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
