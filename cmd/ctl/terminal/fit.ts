/** Columns that the last cell of a row keeps, where it has as much to say. */
const sentence = 24;

/** No name is cut below this. */
const shortest = 12;

/** Between columns. */
export const gap = 2;

/** Names differ at their ends: what goes is the middle. */
function shortenedName(text: string, width: number): string {
  const letters = Array.from(text);
  if (letters.length <= width) return text;
  const tail = Math.floor((width - 1) / 2);
  const head = width - 1 - tail;
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - tail).join('')}`;
}

/** A name loses its middle, a sentence its end. */
export function shortened(text: string, width: number): string {
  if (!text.includes(' ')) return shortenedName(text, width);
  const letters = Array.from(text);
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join('')}…`;
}

export interface Columns {
  /** Of all columns but the last. */
  readonly widths: readonly number[];
  /** Of the longest last cell. */
  readonly last: number;
}

/**
 * The widths at which rows have room in `room` columns: the widest names give way first. Wider than
 * that where there are too many columns.
 */
export function fittedWidths({ widths, last }: Columns, room: number): readonly number[] {
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

/** The next smaller width, so that the widest columns shrink together; one less where none is. */
function secondOf(widths: readonly number[], width: number): number {
  const smaller = widths.filter((other) => other < width);
  return smaller.length === 0 ? width - 1 : Math.min(width - 1, Math.max(...smaller));
}

/** Lines of at most `width` columns, broken between words; a longer word has a line of its own. */
export function wrapped(text: string, width: number): readonly string[] {
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
