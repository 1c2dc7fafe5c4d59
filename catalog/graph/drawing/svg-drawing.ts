import { EntryDetails, oneLine } from '../entry-details.ts';
import { entriesByName, type PackageChannel, type Reach } from '../package-channel.ts';
import type { BundleNode, PackageGraph } from '../package-graph.ts';
import { markup, shortMarkup } from './markup.ts';
import { titleOf } from './text-drawing.ts';

/** Pixels: height of a row, width of a column, height of a channel's name, margin around all. */
const size = { row: 26, column: 40, heading: 22, margin: 24 };
/** Maximum characters of a name, of the details beside it, and of the tooltip. */
const most = { name: 120, details: 100, tooltip: 2_000 };
const pixelsOfCharacter = 7.5;

const style = `
.graph { font: 13px system-ui, sans-serif; fill: #1b1b1b; }
.graph .ground { fill: #ffffff; }
.graph path { fill: none; stroke: #4a5568; stroke-width: 2; }
.graph .skips { stroke: #8a5a00; stroke-dasharray: 2 4; }
.graph .lead { stroke-width: 1; }
.graph circle { fill: #ffffff; stroke: #1a5fb4; stroke-width: 2; }
.graph .head circle { stroke-width: 5; }
.graph .path circle { fill: #1a5fb4; }
.graph .skipped circle { stroke: #8a5a00; stroke-dasharray: 2 2; }
.graph .stranded circle, .graph .stranded path { stroke: #b00020; }
.graph .name { font-weight: 600; }
.graph .deprecated { text-decoration: line-through; }
.graph .details { fill: #4a4a4a; }
@media (prefers-color-scheme: dark) {
  .graph { fill: #f0f0f0; }
  .graph .ground { fill: #151515; }
  .graph path { stroke: #b6bec9; }
  .graph circle { fill: #151515; stroke: #78aeed; }
  .graph .path circle { fill: #78aeed; }
  .graph .skips, .graph .skipped circle { stroke: #e0a84a; }
  .graph .stranded circle, .graph .stranded path { stroke: #ff8a80; }
  .graph .details { fill: #c4c4c4; }
}
`;

const reaches: Readonly<Record<Reach, string>> = {
  head: 'head',
  path: 'reached by replaces',
  skipped: 'skipped',
  stranded: 'stranded',
};

/**
 * A package's graph as a self-contained SVG: columns are channels, rows bundles; full lines are
 * replaces, dotted ones skips. Signs differ in shape, not only in colour, and a description has the
 * same content in words.
 */
export function* drawSvg(graph: PackageGraph): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield* svgElement(graph);
}

/** The same as an element of a page. */
export function* svgElement(graph: PackageGraph): Generator<string> {
  const { channels, bundles } = graph;
  const details = new EntryDetails(graph);
  const texts = bundles.map((bundle) => details.of(bundle));
  const top = size.margin + channels.length * size.heading + size.row / 2;
  const left = size.margin + channels.length * size.column;
  const width = Math.ceil(left + size.margin + widest(graph, texts) * pixelsOfCharacter);
  const height = Math.ceil(top + bundles.length * size.row);
  yield `<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" aria-labelledby="graph-title graph-description" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n`;
  yield `<title id="graph-title">Upgrade graph of ${markup(titleOf(graph))}</title>\n`;
  yield `<desc id="graph-description">${markup(description(graph))}</desc>\n`;
  yield `<style>${style}</style>\n`;
  yield `<rect class="ground" width="${width}" height="${height}"/>\n`;
  for (const [column, channel] of channels.entries()) {
    yield* columnOf(channel, { x: xOf(column), y: headingOf(column), top, bundles });
  }
  for (const [row, bundle] of bundles.entries()) {
    const y = top + row * size.row + 4;
    yield `<text x="${left}" y="${y}">${label(bundle, texts[row] ?? '')}</text>\n`;
  }
  yield '</svg>\n';
}

interface ColumnPlace {
  readonly x: number;
  /** Vertical position of the channel's name. */
  readonly y: number;
  /** Vertical position of the first bundle. */
  readonly top: number;
  readonly bundles: readonly BundleNode[];
}

function* columnOf(
  channel: PackageChannel,
  { x, y, top, bundles }: ColumnPlace,
): Generator<string> {
  const edges = new ColumnEdges(channel, bundles);
  const yOf = (row: number): number => top + row * size.row;
  if (edges.top !== undefined) {
    yield `<path class="lead" d="M${x} ${y + 4}V${yOf(edges.top)}"/>\n`;
  }
  yield `<text x="${x + 6}" y="${y}">${channelLabel(channel)}</text>\n`;
  for (const { from, to, kind, isDirect } of edges.all()) {
    const bulge = kind === 'replaces' ? -16 : 16;
    const line = isDirect
      ? `V${yOf(to)}`
      : `Q${x + bulge} ${(yOf(from) + yOf(to)) / 2} ${x} ${yOf(to)}`;
    yield `<path class="${kind}" d="M${x} ${yOf(from)}${line}"/>\n`;
  }
  const entries = entriesByName(channel);
  for (const [row, { name }] of bundles.entries()) {
    const entry = entries.get(name);
    if (entry !== undefined) yield node(entry.reach, x, yOf(row));
  }
}

function node(reach: Reach, x: number, y: number): string {
  const cross = `<path class="cross" d="M${x - 3} ${y - 3}l6 6m0 -6l-6 6"/>`;
  const sign = `<circle cx="${x}" cy="${y}" r="6"/>${reach === 'stranded' ? cross : ''}`;
  return `<g class="${reach}"><title>${reaches[reach]}</title>${sign}</g>\n`;
}

function label({ name, deprecation }: BundleNode, details: string): string {
  const classes = deprecation === undefined ? 'name' : 'name deprecated';
  const shown = `<tspan class="${classes}">${shortMarkup(oneLine(name), most.name)}</tspan>`;
  const tooltip = `<title>${shortMarkup(details, most.tooltip)}</title>`;
  const beside = `<tspan class="details" dx="12">${shortMarkup(details, most.details)}</tspan>`;
  return details === '' ? shown : `${tooltip}${shown}${beside}`;
}

function channelLabel({ name, deprecation, problem }: PackageChannel): string {
  const classes = deprecation === undefined ? 'name' : 'name deprecated';
  const shown = `<tspan class="${classes}">${shortMarkup(oneLine(name), most.name)}</tspan>`;
  if (problem === undefined) return shown;
  const text = shortMarkup(`broken: ${oneLine(problem)}`, most.details);
  return `${shown}<tspan class="details" dx="12">${text}</tspan>`;
}

function description({ channels, defaultChannel, deprecation }: PackageGraph): string {
  const about = channels.slice(0, 50).map(({ name, heads, entries, problem }) => {
    const isDefault = name === defaultChannel ? ', the default channel' : '';
    const head = problem === undefined ? `head ${heads.join()}` : `broken: ${problem}`;
    return `Channel ${name}${isDefault}: ${entries.length} bundles, ${head}.`;
  });
  const more = channels.length > 50 ? [`And ${channels.length - 50} more channels.`] : [];
  const message = deprecation === undefined ? [] : [`Deprecated: ${deprecation}`];
  return oneLine([...message, ...about, ...more].join(' ')).slice(0, 10_000);
}

function widest({ channels, bundles }: PackageGraph, details: readonly string[]): number {
  const rows = bundles.map(({ name }, row) => {
    return Math.min(name.length, most.name) + Math.min((details[row] ?? '').length, most.details);
  });
  const headings = channels.map(({ name, problem = '' }) => {
    return Math.min(name.length, most.name) + Math.min(problem.length + 8, most.details);
  });
  return [...rows, ...headings].reduce((all, length) => Math.max(all, length), 0) + 4;
}

function xOf(column: number): number {
  return size.margin + column * size.column;
}

function headingOf(column: number): number {
  return size.margin + column * size.heading;
}

/** A line from one row of a column to another. */
interface ColumnEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: 'replaces' | 'skips';
  /** Whether no bundle of the channel lies between. */
  readonly isDirect: boolean;
}

/** The edges between the entries of a channel, by the rows of a package's bundles. */
class ColumnEdges {
  readonly #channel: PackageChannel;
  /** Row of each entry, and its index among the rows of the channel. */
  readonly #places: ReadonlyMap<string, { readonly row: number; readonly index: number }>;
  /** Row of the highest version; undefined for a channel without entries. */
  readonly top: number | undefined;

  constructor(channel: PackageChannel, bundles: readonly BundleNode[]) {
    this.#channel = channel;
    const entries = entriesByName(channel);
    const own = bundles
      .map(({ name }, row) => ({ name, row }))
      .filter(({ name }) => entries.has(name));
    this.#places = new Map(own.map(({ name, row }, index) => [name, { row, index }]));
    this.top = own[0]?.row;
  }

  /** Edges within the channel; none from an entry to itself. */
  *all(): Generator<ColumnEdge> {
    for (const { name, replaces, skips } of this.#channel.entries) {
      yield* this.#edge(name, replaces, 'replaces');
      for (const skipped of new Set(skips)) yield* this.#edge(name, skipped, 'skips');
    }
  }

  *#edge(name: string, other: string, kind: ColumnEdge['kind']): Generator<ColumnEdge> {
    const [from, to] = [this.#places.get(name), this.#places.get(other)];
    if (from === undefined || to === undefined || name === other) return;
    const isDirect = kind === 'replaces' && Math.abs(from.index - to.index) === 1;
    yield { from: from.row, to: to.row, kind, isDirect };
  }
}
