import {
  type Cursor,
  char,
  firstNonSpace,
  trimBlanksEnd,
  trimBlanksStart,
  unsupported,
} from './cursor.ts';

/**
 * Reads the plain scalar at the cursor, with its continuation lines further right than column
 * `parent`, and stops at the content that follows.
 */
export function readPlainText(cursor: Cursor, parent: number): string {
  const end = cursor.text.indexOf('\n', cursor.at);
  const line = cursor.text.slice(cursor.at, end);
  cursor.at = end + 1;
  if (!needsCare.test(line)) return line + continuation(cursor, parent);
  const comment = line.indexOf(' #');
  const content = trimBlanksEnd(comment === -1 ? line : line.slice(0, comment));
  if (content === '' || needsCare.test(content)) throw unsupported;
  if (comment === -1) return content + continuation(cursor, parent);
  finish(cursor, parent);
  return content;
}

// A mapping's colon, a comment, a tab anywhere, a blank at the end.
const needsCare = /:(?: |$)| #|\t| $/;

// The folded continuation lines; the cursor is at the start of the first of them.
function continuation(cursor: Cursor, parent: number): string {
  const { text } = cursor;
  let folded = '';
  let breaks = 0;
  for (let start = cursor.at; start < text.length; ) {
    const at = firstNonSpace(text, start);
    const first = text.charCodeAt(at);
    const isBlank = first === char.newline;
    if (!isBlank && (at - start <= parent || first === char.hash)) break;
    const end = isBlank ? at : text.indexOf('\n', at);
    if (!isBlank) {
      const line = text.slice(at, end);
      if (needsCare.test(line)) throw unsupported;
      folded += (breaks === 0 ? ' ' : '\n'.repeat(breaks)) + line;
      cursor.at = end + 1;
    }
    breaks = isBlank ? breaks + 1 : 0;
    start = end + 1;
  }
  finish(cursor, parent);
  return folded;
}

function finish(cursor: Cursor, parent: number): void {
  cursor.toContent(cursor.at);
  if (cursor.column > parent) throw unsupported;
}

/** Reads the quoted scalar at the cursor, over any number of lines, and stops behind it. */
export function readQuoted(cursor: Cursor): string {
  return cursor.code() === char.doubleQuote ? readDouble(cursor) : readSingle(cursor);
}

function readSingle(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at + 1;
  let end = text.indexOf("'", start);
  while (end !== -1 && text.charCodeAt(end + 1) === char.singleQuote) {
    end = text.indexOf("'", end + 2);
  }
  if (end === -1) throw unsupported;
  cursor.at = end + 1;
  return foldLines(text.slice(start, end), false).replaceAll("''", "'");
}

function readDouble(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at + 1;
  let end = text.indexOf('"', start);
  while (end !== -1 && endsEscaping(text, end)) end = text.indexOf('"', end + 1);
  if (end === -1) throw unsupported;
  cursor.at = end + 1;
  const raw = text.slice(start, end);
  return raw.includes('\\')
    ? foldLines(raw, true).replace(escape, unescape)
    : foldLines(raw, false);
}

/** True when the text before `end` ends with an escaping backslash. */
function endsEscaping(text: string, end: number): boolean {
  let at = end - 1;
  while (text.charCodeAt(at) === char.backslash) at -= 1;
  return (end - at) % 2 === 0;
}

function foldLines(raw: string, escapes: boolean): string {
  if (!raw.includes('\n')) return raw;
  const lines = raw.split('\n');
  const last = continued(lines.pop() ?? '');
  let folded = '';
  let separator = '';
  let breaks = 0;
  for (const [index, line] of lines.entries()) {
    const content = index === 0 ? line : continued(line);
    if (content !== '' || index === 0) {
      const joins = escapes && endsEscaping(content, content.length);
      folded += lineBreak(breaks, separator) + endOfLine(content, joins, escapes);
      separator = joins ? '' : ' ';
      breaks = 0;
    }
    breaks += 1;
  }
  return folded + lineBreak(breaks, separator) + last;
}

// One line break folds to a space, several to one less, an escaped one to nothing.
function lineBreak(breaks: number, single: string): string {
  // Parsers differ about an escaped break before empty lines.
  if (breaks > 1 && single === '') throw unsupported;
  return breaks > 1 ? '\n'.repeat(breaks - 1) : single;
}

function continued(line: string): string {
  if (line.startsWith('---') || line.startsWith('...')) throw unsupported;
  return trimBlanksStart(line);
}

// Drops blanks before a line break, except one that a backslash escapes.
function endOfLine(line: string, joined: boolean, escapes: boolean): string {
  if (joined) return line.slice(0, -1);
  const trimmed = trimBlanksEnd(line);
  const isEscaped =
    escapes && trimmed.length < line.length && endsEscaping(trimmed, trimmed.length);
  return isEscaped ? line.slice(0, trimmed.length + 1) : trimmed;
}

const escape = /\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^])/g;

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};

function unescape(_: string, name: string): string {
  if (name.length === 1) {
    const found = escapes[name];
    if (found === undefined) throw unsupported;
    return found;
  }
  const code = Number.parseInt(name.slice(1), 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw unsupported;
  return String.fromCodePoint(code);
}
