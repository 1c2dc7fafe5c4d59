import { compareBytes } from '../../api/byte-order.ts';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import {
  compareVersions,
  isInRange,
  parseRange,
  VersionError,
  type VersionRange,
} from '../../resolver/versions/index.ts';
import type { ChannelEntry, OlmChannel } from '../blobs/index.ts';
import { BundleVersions } from './bundle-versions.ts';
import { goSorted } from './go-sort.ts';
import { ChosenChannels, type MermaidChoice } from './mermaid-choice.ts';
import type { UpgradeGraph } from './upgrade-graph.ts';

export interface MermaidOptions extends MermaidChoice {
  /** Mark bundles and edges that OLM v0 would not use: skipped bundles, and edges to them. */
  readonly drawV0Semantics?: boolean | undefined;
  /** Called for each invalid range. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** Maximum number of edges. Ranges over many bundles can produce more than any tool can draw. */
const mostEdges = 1_000_000;

/**
 * The channels as text for mermaid, byte by byte as `opm alpha render-graph` writes it. Does not
 * escape names for HTML.
 * @throws TerminalError for a bundle without a version, and for an unknown minimum edge
 */
export function* drawMermaid(graph: UpgradeGraph, options: MermaidOptions = {}): Generator<string> {
  const drawing = new MermaidDrawing(graph, options);
  drawing.addChannels();
  yield* drawing.lines();
}

class MermaidDrawing {
  readonly #options: MermaidOptions;
  readonly #versions: BundleVersions;
  readonly #channels: readonly OlmChannel[];
  readonly #packages = new Map<string, string[]>();
  /** opm compares only names: a deprecated channel marks channels of its name in all packages. */
  readonly #deprecated = { packages: new Set<string>(), channels: new Set(), bundles: new Set() };
  readonly #styled = {
    package: '',
    channels: [] as string[],
    deprecated: [] as string[],
    deprecatedskipped: [] as string[],
    skipped: [] as string[],
  };
  readonly #skippedLinks: number[] = [];
  #links = 0;

  constructor(graph: UpgradeGraph, options: MermaidOptions) {
    this.#options = options;
    this.#channels = goSorted(graph.channels, (a, b) => compareBytes(a.name, b.name) < 0);
    this.#versions = new BundleVersions(graph.bundles);
    const { minimumEdge = '' } = options;
    if (minimumEdge !== '' && !this.#versions.has(minimumEdge)) {
      throw new TerminalError(`unknown minimum edge name: ${goQuote(minimumEdge)}`);
    }
    for (const { package: owner, entries } of graph.deprecations) {
      for (const { reference } of entries) {
        if (reference.schema === 'olm.package') this.#deprecated.packages.add(owner);
        if (reference.schema === 'olm.channel') this.#deprecated.channels.add(reference.name);
        if (reference.schema === 'olm.bundle') this.#deprecated.bundles.add(reference.name);
      }
    }
  }

  addChannels(): void {
    const chosen = new ChosenChannels(this.#channels, this.#versions, this.#options);
    for (const each of this.#channels) {
      const channel = chosen.of(each);
      if (channel !== undefined) this.#addChannel(channel);
    }
  }

  #addChannel(channel: OlmChannel): void {
    const id = `${channel.package}-${channel.name}`;
    const lines = this.#linesOf(channel.package);
    lines.push(`    %% channel ${goQuote(channel.name)}\n`);
    lines.push(`    subgraph ${id}[${goQuote(channel.name)}]\n`);
    if (this.#deprecated.packages.has(channel.package)) this.#styled.package = channel.package;
    if (this.#deprecated.channels.has(channel.name)) this.#styled.channels.push(id);
    const newestFirst = (a: ChannelEntry, b: ChannelEntry): boolean =>
      compareVersions(this.#versions.of(a.name), this.#versions.of(b.name)) > 0;
    const skipped = new Set<string>();
    const nodeOf = nodesOf(id);
    for (const entry of goSorted(channel.entries, newestFirst)) {
      this.#addEntry(entry, { id, channel, nodeOf, skipped, lines });
    }
    lines.push('    end\n');
  }

  #linesOf(name: string): string[] {
    const lines = this.#packages.get(name) ?? [];
    this.#packages.set(name, lines);
    return lines;
  }

  #addEntry(entry: ChannelEntry, place: ChannelPlace): void {
    const { id, channel, nodeOf, skipped, lines } = place;
    const node = nodeOf(entry.name);
    lines.push(`      ${node}\n`);
    this.#mark(`${id}-${entry.name}`, entry.name, skipped);
    for (const name of entry.skips) {
      lines.push(`      ${nodeOf(name)}-- skip --> ${node}\n`);
      if (skipped.has(name)) this.#markLink();
      else if (this.#options.drawV0Semantics === true) skipped.add(name);
      this.#countLink();
    }
    for (const name of this.#inSkipRange(entry, channel)) {
      const label = `"skipRange(${entry.skipRange})"`;
      lines.push(`      ${nodeOf(name)}-- ${label} --> ${node}\n`);
      if (skipped.has(entry.name)) this.#markLink();
      this.#countLink();
    }
    if (entry.replaces === '') return;
    lines.push(`      ${nodeOf(entry.replaces)}-- replace --> ${node}\n`);
    if (skipped.has(entry.name)) this.#markLink();
    this.#countLink();
  }

  #mark(id: string, name: string, skipped: ReadonlySet<string>): void {
    const isDeprecated = this.#deprecated.bundles.has(name);
    if (isDeprecated && skipped.has(name)) this.#styled.deprecatedskipped.push(id);
    else if (isDeprecated) this.#styled.deprecated.push(id);
    else if (skipped.has(name)) this.#styled.skipped.push(id);
  }

  #markLink(): void {
    this.#skippedLinks.push(this.#links);
  }

  #countLink(): void {
    this.#links += 1;
    if (this.#links <= mostEdges) return;
    throw new TerminalError(
      `the graph has more than ${mostEdges} edges: choose a package, or a minimum edge`,
    );
  }

  *#inSkipRange({ name, skipRange }: ChannelEntry, channel: OlmChannel): Generator<string> {
    if (skipRange === '') return;
    let range: VersionRange;
    try {
      range = parseRange(skipRange);
    } catch (error) {
      if (!(error instanceof VersionError)) throw error;
      const edge = `${goQuote(channel.package)}/${goQuote(name)}`;
      const message = `ignoring invalid SkipRange for package/edge ${edge}: ${error.message}`;
      this.#options.warn?.(message);
      return;
    }
    for (const entry of channel.entries) {
      if (isInRange(this.#versions.of(entry.name), range)) yield entry.name;
    }
  }

  *lines(): Generator<string> {
    yield 'graph LR\n';
    yield '  classDef deprecated fill:#E8960F\n';
    yield '  classDef skipped stroke:#FF0000,stroke-width:4px\n';
    yield '  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px\n';
    for (const [name, lines] of [...this.#packages].sort(([a], [b]) => compareBytes(a, b))) {
      yield `  %% package ${goQuote(name)}\n`;
      yield `  subgraph ${goQuote(name)}\n`;
      yield* lines;
      yield '  end\n';
    }
    const { package: owner, channels, ...classes } = this.#styled;
    if (owner !== '') yield `style ${owner} fill:#989695\n`;
    for (const id of channels) yield `style ${id} fill:#DCD0FF\n`;
    for (const [name, ids] of Object.entries(classes)) {
      if (ids.length > 0) yield `class ${ids.sort(compareBytes).join(',')} ${name}\n`;
    }
    if (this.#skippedLinks.length === 0) return;
    const look = 'stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;';
    yield `linkStyle ${this.#skippedLinks.join(',')} ${look}\n`;
  }
}

interface ChannelPlace {
  readonly id: string;
  readonly channel: OlmChannel;
  readonly nodeOf: (name: string) => string;
  /** Names that previous entries skip. */
  readonly skipped: Set<string>;
  readonly lines: string[];
}

/** The nodes of a channel by name, cached because many edges lead to one node. */
function nodesOf(channel: string): (name: string) => string {
  const nodes = new Map<string, string>();
  return (name) => {
    const known = nodes.get(name);
    if (known !== undefined) return known;
    const node = `${channel}-${name}[${goQuote(name)}]`;
    nodes.set(name, node);
    return node;
  };
}
