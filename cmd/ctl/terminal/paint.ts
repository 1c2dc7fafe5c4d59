import { styleText } from 'node:util';

/** Gives a printed line its colours. Lines come without control characters. */
export type Paint = (line: string) => string;

/** What states are worth: words that stand alone in a column. */
const colourOf: ReadonlyMap<string, Colour> = new Map([
  ...each('green', 'Healthy', 'Installed', 'Current', 'Unpacked', 'Running', 'Succeeded', 'ok'),
  ...each('yellow', 'NotObserved', 'Deleting', 'InProgress', 'Pending', 'Unpacking', 'Terminating'),
  ...each('yellow', 'Unknown', 'warning', 'Warning'),
  ...each('red', 'Unhealthy', 'NotInstalled', 'Failing', 'Failed', 'failed'),
  ...each('gray', 'superseded', 'skipped'),
]);

const columns = new RegExp(
  `(?<=^|^.*(?: {2}|-- ))(?:${[...colourOf.keys()].join('|')})(?= {2}|$)`,
  'g',
);

/** States, and the words that begin a problem. */
export function paintStates(line: string): string {
  const problem = /^(?:error|warning|Warning|Next):/.exec(line)?.[0];
  if (problem !== undefined) {
    const colour = problem === 'error:' ? 'red' : 'yellow';
    return `${coloured(colour, problem)}${line.slice(problem.length)}`;
  }
  return line.replace(columns, (word) => coloured(colourOf.get(word) ?? 'reset', word));
}

/** A unified diff. */
export function paintDiff(line: string): string {
  if (/^(?:---|\+\+\+) /.test(line)) return coloured('bold', line);
  if (line.startsWith('@@')) return coloured('cyan', line);
  if (line.startsWith('+')) return coloured('green', line);
  return line.startsWith('-') ? coloured('red', line) : line;
}

function each(colour: Colour, ...words: readonly string[]): readonly (readonly [string, Colour])[] {
  return words.map((word) => [word, colour]);
}

export type Colour = Extract<Parameters<typeof styleText>[0], string>;

/** The parts of an output stream that say whether a person is looking at it. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
}

/** Files, pipes and who sets NO_COLOR (https://no-color.org) get no escape sequences. */
export function showsColour({ isTTY }: Screen, env: NodeJS.ProcessEnv = process.env): boolean {
  return isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** The text with the escape sequences of a colour, whoever reads it. */
export function coloured(colour: Colour, text: string): string {
  return styleText(colour, text, { validateStream: false });
}
