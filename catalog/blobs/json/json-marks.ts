import { TerminalError } from '../../../core/errors.ts';

/**
 * Offset behind the JSON string that starts at the offset. V8 matches a whole string with an
 * expression only up to some megabytes.
 * @throws TerminalError if the text ends before the string does
 */
export function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (;;) {
    quoteOrEscape.lastIndex = at;
    const found = quoteOrEscape.exec(json);
    if (found === null) throw new TerminalError('unexpected end of JSON input');
    if (found[0] === '"') return found.index + 1;
    at = found.index + 2;
  }
}

const quoteOrEscape = /["\\]/g;

/** Compact JSON over several lines; strings, numbers and order stay unchanged. */
export function indentedText(json: string, indent: string): string {
  const pieces: string[] = [];
  let depth = 0;
  let copied = 0;
  const line = (): string => `\n${indent}${'    '.repeat(depth)}`;
  for (const at of marksOf(json)) {
    const mark = json.charAt(at);
    depth += depthChange(mark);
    pieces.push(
      json.slice(copied, at),
      spaced(mark, json.slice(Math.max(at - 1, 0), at + 2), line),
    );
    copied = at + 1;
  }
  pieces.push(json.slice(copied));
  return pieces.join('');
}

const quoteOrMark = /["[\]{},:]/g;

/** Offsets of brackets, commas and colons outside of strings. */
function* marksOf(json: string): Generator<number> {
  let at = 0;
  for (;;) {
    quoteOrMark.lastIndex = at;
    const found = quoteOrMark.exec(json);
    if (found === null) return;
    at = found[0] === '"' ? endOfString(json, found.index) : found.index + 1;
    if (found[0] !== '"') yield found.index;
  }
}

function depthChange(mark: string): number {
  if (mark === '{' || mark === '[') return 1;
  return mark === '}' || mark === ']' ? -1 : 0;
}

/** A mark with the breaks around it; `around` has the characters before and behind it, too. */
function spaced(mark: string, around: string, line: () => string): string {
  if (mark === ':') return ': ';
  if (mark === ',') return `,${line()}`;
  const isEmpty = around.includes('{}') || around.includes('[]');
  if (isEmpty) return mark;
  return mark === '{' || mark === '[' ? `${mark}${line()}` : `${line()}${mark}`;
}
