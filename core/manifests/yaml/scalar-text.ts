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
    const end = text.indexOf('\n', at);
    if (at !== end) {
      if (at - start <= parent || text.charCodeAt(at) === char.hash) break;
      const line = text.slice(at, end);
      if (needsCare.test(line)) throw unsupported;
      folded += (breaks === 0 ? ' ' : '\n'.repeat(breaks)) + line;
      cursor.at = end + 1;
    }
    breaks = at === end ? breaks + 1 : 0;
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

/**
 * Reads the literal (`|`) or folded (`>`) scalar at the cursor, with its lines further right than
 * column `parent`, and stops at the content that follows.
 */
export function readBlockScalar(cursor: Cursor, parent: number): string {
  const start = cursor.text.indexOf('\n', cursor.at) + 1;
  const { style, chomping, indicator } = headerIn(cursor.text.slice(cursor.at, start - 1));
  const indent =
    indicator === undefined
      ? contentIndent(cursor.text, start, parent)
      : Math.max(parent, 0) + indicator;
  const lines = readLines(cursor, start, indent);
  if (cursor.column > parent) throw unsupported;
  const used = lines.findLastIndex((line) => line !== '') + 1;
  if (used === 0) return chomping === '+' ? '\n'.repeat(lines.length) : '';
  const content = lines.slice(0, used);
  return (
    (style === '>' ? fold(content) : content.join('\n')) + ending(chomping, lines.length - used)
  );
}

interface Header {
  readonly style: string;
  readonly chomping: string;
  /** Explicit columns of indentation; undefined when the first line shows them. */
  readonly indicator: number | undefined;
}

function headerIn(line: string): Header {
  return commonHeaders.get(line) ?? readHeader(line);
}

function readHeader(line: string): Header {
  const [, style = '', marks = ''] = headerPattern.exec(line) ?? [];
  if (style === '') throw unsupported;
  const [chomping = ''] = /[-+]/.exec(marks) ?? [];
  const [columns] = /[1-9]/.exec(marks) ?? [];
  return { style, chomping, indicator: columns === undefined ? undefined : Number(columns) };
}

// Chomping and the columns of indentation come in any order.
const headerPattern = /^([|>])([-+]?[1-9]?|[1-9][-+])(?:[ \t]+(?:#.*)?)?$/;

const commonHeaders: ReadonlyMap<string, Header> = new Map(
  ['|', '|-', '|+', '>', '>-', '>+'].map((line) => [line, readHeader(line)] as const),
);

/** Column of the first line with content; undefined without any for this scalar. */
function contentIndent(text: string, firstLine: number, parent: number): number | undefined {
  let widestBlank = 0;
  for (let start = firstLine; start < text.length; ) {
    const first = firstNonSpace(text, start);
    const column = first - start;
    if (text.charCodeAt(first) !== char.newline) {
      if (column > parent && widestBlank > column) throw unsupported;
      return column > parent ? column : undefined;
    }
    widestBlank = Math.max(widestBlank, column);
    start = first + 1;
  }
  return undefined;
}

// Lines without their indentation, including blank ones at the end.
function readLines(cursor: Cursor, firstLine: number, indent = Number.MAX_SAFE_INTEGER): string[] {
  const { text } = cursor;
  const lines: string[] = [];
  let start = firstLine;
  while (start < text.length) {
    const first = firstNonSpace(text, start);
    const isBlank = text.charCodeAt(first) === char.newline;
    if (!isBlank && first - start < indent) break;
    const end = isBlank ? first : text.indexOf('\n', first);
    lines.push(end - start > indent ? text.slice(start + indent, end) : '');
    start = end + 1;
  }
  cursor.toContent(start);
  return lines;
}

// Line breaks between lines fold to spaces, except around blank lines and lines indented deeper.
function fold(lines: readonly string[]): string {
  let text = '';
  let lineBreak = '';
  let blankLines = 0;
  let deeper = false;
  for (const line of lines) {
    if (line === '') {
      blankLines += 1;
      continue;
    }
    const wasDeeper = deeper;
    deeper = line.startsWith(' ') || line.startsWith('\t');
    const folds = lineBreak !== '' && !wasDeeper && !deeper;
    if (!folds) text += lineBreak;
    else if (blankLines === 0) text += ' ';
    text += '\n'.repeat(blankLines) + line;
    blankLines = 0;
    lineBreak = '\n';
  }
  return text;
}

function ending(chomping: string, blankLines: number): string {
  if (chomping === '-') return '';
  return chomping === '+' ? '\n'.repeat(blankLines + 1) : '\n';
}
