import { staysText } from './go-yaml-plain.ts';
import type { ScalarPlace } from './go-yaml-scalar.ts';

/** go-yaml folds a line at the first space after this column. */
export const foldWidth = 80;

const colon = 0x3a;
const hash = 0x23;
const space = 0x20;

/**
 * YAML of a text of printable ASCII characters that needs no quotes or escapes, as nearly all:
 * plain or as a block. Undefined for any other text.
 */
export function asciiScalar(text: string, place: ScalarPlace): string | undefined {
  if (isPlain(text)) return staysText(text) ? folded(text, place) : undefined;
  return isBlock(text) && !place.isKey ? block(text, place.indent) : undefined;
}

function isPlain(text: string): boolean {
  if (indicators.includes(text.charAt(0))) return false;
  let before = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (endsPlain(before, code)) return false;
    before = code;
  }
  return before !== space && before !== colon;
}

function endsPlain(before: number, code: number): boolean {
  if (code < space || code > 0x7e) return true;
  return before === space ? code === hash : before === colon && code === space;
}

/** First characters for which go-yaml may write quotes. An empty text counts as one of them. */
const indicators = '#,[]{}&*!|>\'"%@`?:- .';

const blockText = /^[\n\x20-\x7e]*$/;

function isBlock(text: string): boolean {
  if (!text.includes('\n') || text.includes(' \n') || text.endsWith(' ')) return false;
  return blockText.test(text);
}

/** Breaks lines at single spaces. */
function folded(text: string, { column, indent, isKey }: ScalarPlace): string {
  if (isKey || column + text.length <= foldWidth) return text;
  let written = '';
  let start = 0;
  let first = foldWidth + 1 - column;
  for (;;) {
    const at = singleSpace(text, start + first);
    if (at === -1) return written + text.slice(start);
    written += `${text.slice(start, at)}\n${' '.repeat(indent)}`;
    start = at + 1;
    first = Math.max(foldWidth + 1 - indent, 0);
  }
}

/** Offset of the first space at or after `from` without another space beside it; -1 if none. */
function singleSpace(text: string, from: number): number {
  let at = text.indexOf(' ', Math.max(from, 1));
  while (at !== -1 && (isSpace(text, at - 1) || isSpace(text, at + 1)))
    at = text.indexOf(' ', at + 1);
  return at;
}

function isSpace(text: string, at: number): boolean {
  return text.charCodeAt(at) === space;
}

/** Each line with the indent, except empty ones. */
function block(text: string, indent: number): string {
  const lead = ' '.repeat(indent);
  let written = `|${headerOf(text)}`;
  const last = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let start = 0; start <= last; ) {
    const found = text.indexOf('\n', start);
    const end = found === -1 || found > last ? last : found;
    written += end === start ? '\n' : `\n${lead}${text.slice(start, end)}`;
    start = end + 1;
  }
  return written;
}

function headerOf(text: string): string {
  const hint = text.startsWith(' ') || text.startsWith('\n') ? '2' : '';
  if (!text.endsWith('\n')) return `${hint}-`;
  return text.length === 1 || text.endsWith('\n\n') ? `${hint}+` : hint;
}
