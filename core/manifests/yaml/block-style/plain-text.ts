import { firstNonSpace, trimBlanksEnd } from './blanks.ts';
import { type Cursor, char, unsupported } from './cursor.ts';

/**
 * Reads the plain scalar at the cursor, with the lines that continue it further right than column
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

// The folded lines that follow; the cursor stands at the start of the first of them.
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
