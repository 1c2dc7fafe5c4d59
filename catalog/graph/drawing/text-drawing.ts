import { EntryDetails, oneLine, sentence } from '../entry-details.ts';
import { entriesByName, type PackageChannel, type Reach } from '../package-channel.ts';
import type { PackageGraph } from '../package-graph.ts';
import { lanesOf } from './lanes.ts';

/** A line of a drawing in characters. */
export interface TextLine {
  /** One column for each channel, two characters wide. */
  readonly lanes: string;
  readonly name: string;
  readonly details: string;
}

export interface TextDrawing {
  readonly lines: readonly TextLine[];
  /** Meaning of the signs in the lanes. */
  readonly legend: string;
}

const signs: Readonly<Record<Reach, string>> = {
  head: '*',
  path: 'o',
  skipped: '.',
  stranded: '!',
};

const meanings: readonly (readonly [string, string])[] = [
  ['*', 'head'],
  ['o', 'reached by replaces'],
  ['.', 'skipped'],
  ['!', 'stranded: no upgrade leads from it to the head'],
  ['|', 'replaces'],
  [':', 'skips'],
];

/**
 * A package's graph in ASCII, for terminals, logs and mails: a column for each channel and a row for
 * each bundle, the highest version on top.
 */
export function drawText(graph: PackageGraph): TextDrawing {
  const { channels, defaultChannel } = graph;
  const heading: readonly TextLine[] = channels.map((channel, index) => ({
    lanes: '| '.repeat(index),
    name: oneLine(channel.name),
    details: channelDetails(channel, channel.name === defaultChannel),
  }));
  const details = new EntryDetails(graph);
  const columns = channels.map((channel) => ({
    entries: entriesByName(channel),
    lanes: lanesOf(channel, graph.bundles),
  }));
  const rows = graph.bundles.map((bundle, row): TextLine => {
    const cells = columns.map(({ entries, lanes }) => {
      const entry = entries.get(bundle.name);
      return entry === undefined ? (lanes[row] ?? ' ') : signs[entry.reach];
    });
    return {
      lanes: `${cells.join(' ')} `,
      name: oneLine(bundle.name),
      details: details.of(bundle),
    };
  });
  const used = meanings.filter(([sign]) => rows.some((row) => row.lanes.includes(sign)));
  const legend = used.map((pair) => pair.join(' '));
  return { lines: [...heading, ...rows], legend: legend.join('   ') };
}

/** The title of a drawing, in one line. */
export function titleOf({ package: name, deprecation, channels, bundles }: PackageGraph): string {
  const counts = `${counted(channels.length, 'channel')}, ${counted(bundles.length, 'bundle')}`;
  const message = deprecation === undefined ? '' : `; deprecated: ${sentence(deprecation)}`;
  return `${oneLine(name)}: ${counts}${message}`;
}

function channelDetails(channel: PackageChannel, isDefault: boolean): string {
  const { deprecation, problem, entries } = channel;
  const facts = [
    deprecation === undefined ? '' : `deprecated: ${sentence(deprecation)}`,
    isDefault ? 'default channel' : '',
    counted(entries.length, 'bundle'),
    problem === undefined ? '' : `broken: ${problem}`,
  ];
  return facts.filter((text) => text !== '').join('; ');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
