import { type Cursor, char, firstNonSpace, unsupported } from './cursor.ts';

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
