import { styleText } from 'node:util';

/** Adds colours to a printed line. Lines come without control characters. */
export type Paint = (line: string) => string;

/** Colours of states: words that stand alone in a column. */
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

/** Colours states, and the words at the start of a problem. */
export function paintStates(line: string): string {
  const problem = /^(?:error|warning|Warning|Next):/.exec(line)?.[0];
  if (problem !== undefined) {
    const colour = problem === 'error:' ? 'red' : 'yellow';
    return `${coloured(colour, problem)}${line.slice(problem.length)}`;
  }
  return line.replace(columns, (word) => coloured(colourOf.get(word) ?? 'reset', word));
}

/** Colours a unified diff. */
export function paintDiff(line: string): string {
  if (/^(?:---|\+\+\+) /.test(line)) return coloured('bold', line);
  if (line.startsWith('@@')) return coloured('cyan', line);
  if (line.startsWith('+')) return coloured('green', line);
  return line.startsWith('-') ? coloured('red', line) : line;
}

/** A line of an upgrade graph: lanes, name, details. Heads are bold, what is deprecated is struck. */
export function paintGraph(line: string): string {
  const [, lanes = '', name = '', details = ''] = graphLine.exec(line) ?? [];
  const struck = / {2,}deprecated: /.test(details) ? coloured('strikethrough', name) : name;
  const shown = lanes.includes('*') ? coloured('bold', struck) : struck;
  return `${lanes.replaceAll('!', coloured('red', '!'))}${shown}${details}`;
}

const graphLine = /^((?:[*o.!|: ] )*)(.*?)( {2,}.*)?$/;

function each(colour: Colour, ...words: readonly string[]): readonly (readonly [string, Colour])[] {
  return words.map((word) => [word, colour]);
}

export type Colour = Extract<Parameters<typeof styleText>[0], string>;

/** The properties of an output stream that show whether a person reads it. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
}

/**
 * False for files, pipes and users with NO_COLOR (https://no-color.org): they get no escape
 * sequences.
 */
export function showsColour({ isTTY }: Screen, env: NodeJS.ProcessEnv = process.env): boolean {
  return isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** The text with the escape sequences of a colour, for any reader. */
export function coloured(colour: Colour, text: string): string {
  return styleText(colour, text, { validateStream: false });
}
