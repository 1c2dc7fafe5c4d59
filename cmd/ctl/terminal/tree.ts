export interface TreeNode {
  /** Columns, aligned with those of siblings. */
  readonly cells: readonly string[];
  readonly children?: readonly TreeNode[];
}

/**
 * A tree in ASCII, so that it looks the same in a terminal, a log and a mail. One line per node;
 * within `width`, names are shortened and sentences wrapped.
 */
export function treeLines({ cells, children = [] }: TreeNode, width = Infinity): string[] {
  const prefix = { first: '', rest: children.length > 0 ? '|   ' : '    ' };
  return [...nodeLines({ cells, widths: [], prefix, width }), ...branchLines(children, '', width)];
}

function branchLines(nodes: readonly TreeNode[], indent: string, width: number): string[] {
  const columns = columnsOf(nodes.map(({ cells }) => cells));
  const widths = fittedWidths(columns, width - indent.length - '|-- '.length);
  return nodes.flatMap(({ cells, children = [] }, index) => {
    const isLast = index === nodes.length - 1;
    const below = `${indent}${isLast ? '    ' : '|   '}`;
    const prefix = {
      first: `${indent}${isLast ? '`-- ' : '|-- '}`,
      rest: `${below}${children.length > 0 ? '|   ' : '    '}`,
    };
    const lines = nodeLines({ cells, widths, prefix, width });
    return [...lines, ...branchLines(children, below, width)];
  });
}

interface PlacedNode {
  readonly cells: readonly string[];
  readonly widths: readonly number[];
  /** Prefixes of the first line, and of the further lines of a wrapped sentence. */
  readonly prefix: { readonly first: string; readonly rest: string };
  readonly width: number;
}

/** Minimum columns for a sentence. */
const narrow = 24;

function nodeLines({ cells, widths, prefix, width }: PlacedNode): string[] {
  const lead = `${prefix.first}${leading(cells, widths)}`;
  const last = oneLine(cells.at(-1) ?? '');
  const room = width - lead.length;
  if (last.length <= room) return [`${lead}${last}`.trimEnd()];
  if (!last.includes(' ')) return [`${lead}${shortened(last, Math.max(room, narrow))}`];
  const hanging = room >= narrow ? prefix.rest.padEnd(lead.length) : `${prefix.rest}  `;
  const [first = '', ...more] = wrapped(last, Math.max(width - hanging.length, narrow));
  return [`${lead}${first}`, ...more.map((line) => `${hanging}${line}`)];
}

/** Rows with aligned columns, the first row with the headings; one line each, within `width`. */
export function tableLines(rows: readonly (readonly string[])[], width = Infinity): string[] {
  const widths = fittedWidths(columnsOf(rows), width);
  return rows.map((cells) => {
    const lead = leading(cells, widths);
    const room = Math.max(width - lead.length, narrow);
    return `${lead}${shortened(oneLine(cells.at(-1) ?? ''), room)}`.trimEnd();
  });
}

/** The last cell of a row widens no column. */
function columnsOf(rows: readonly (readonly string[])[]): Columns {
  const count = largest(rows.map((row) => row.length));
  const lengths = rows.map((row) => row.map((cell) => oneLine(cell).length));
  return {
    widths: Array.from({ length: Math.max(0, count - 1) }, (_, column) =>
      largest(lengths.map((row) => (column < row.length - 1 ? (row[column] ?? 0) : 0))),
    ),
    last: largest(lengths.map((row) => (row.length === count ? (row.at(-1) ?? 0) : 0))),
  };
}

/** Of any number of rows: a call takes some ten thousand arguments at most. */
function largest(lengths: readonly number[]): number {
  return lengths.reduce((most, length) => Math.max(most, length), 0);
}

/** All cells of a row except the last, in their columns. */
function leading(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .slice(0, -1)
    .map((cell, column) => {
      const text = oneLine(cell);
      const width = widths[column] ?? text.length;
      return shortened(text, width).padEnd(width + gap);
    })
    .join('');
}

const longestCell = 600;

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > longestCell
    ? `${line.slice(0, longestCell)} … (all of it: --output json)`
    : line;
}

/** Minimum columns of a row's last cell, if it is that long. */
const sentence = 24;

/** Minimum length of a shortened name. */
const shortest = 12;

/** Columns between cells. */
const gap = 2;

/** Shortens a name in the middle, because names differ at their ends. */
function shortenedName(text: string, width: number): string {
  const letters = Array.from(text);
  if (letters.length <= width) return text;
  const tail = Math.floor((width - 1) / 2);
  const head = width - 1 - tail;
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - tail).join('')}`;
}

/** Shortens a name in its middle, a sentence at its end. */
export function shortened(text: string, width: number): string {
  if (!text.includes(' ')) return shortenedName(text, width);
  const letters = Array.from(text);
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join('')}…`;
}

interface Columns {
  /** All columns except the last. */
  readonly widths: readonly number[];
  /** Length of the longest last cell. */
  readonly last: number;
}

/**
 * Column widths for `room` columns: the widest column shrinks first. Wider than `room` when there
 * are too many columns.
 */
function fittedWidths({ widths, last }: Columns, room: number): readonly number[] {
  const fitted = [...widths];
  const wanted = Math.min(last, sentence);
  for (;;) {
    const taken = fitted.reduce((sum, width) => sum + width + gap, wanted);
    const widest = fitted.indexOf(Math.max(...fitted));
    const width = fitted[widest] ?? 0;
    if (taken <= room || width <= shortest) return fitted;
    fitted[widest] = Math.max(shortest, width - (taken - room), secondOf(fitted, width));
  }
}

/**
 * The next smaller width, so that the widest columns shrink together; one less when there is none.
 */
function secondOf(widths: readonly number[], width: number): number {
  const smaller = widths.filter((other) => other < width);
  return smaller.length === 0 ? width - 1 : Math.min(width - 1, Math.max(...smaller));
}

/** Lines of at most `width` columns, broken between words; a longer word gets its own line. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
