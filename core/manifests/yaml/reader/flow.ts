import type { JsonValue } from '../../../../api/json.ts';
import { plainKey, resolvePlain, setMember } from '../scalars.ts';
import { maxNesting } from '../yaml-text.ts';
import { type Cursor, char, unsupported } from './cursor.ts';
import { readQuoted } from './scalar-text.ts';

/** Reads the `[…]` or `{…}` at the cursor if it is simple: one line, words and quoted strings. */
export function readFlow(cursor: Cursor): JsonValue {
  const lineEnd = cursor.text.indexOf('\n', cursor.at);
  const value = readCollection(cursor, 1);
  if (cursor.at > lineEnd) throw unsupported;
  return value;
}

function readCollection(cursor: Cursor, depth: number): JsonValue {
  if (depth > maxNesting) throw unsupported;
  return cursor.code() === char.bracket ? readItems(cursor, depth) : readMembers(cursor, depth);
}

function readItems(cursor: Cursor, depth: number): JsonValue[] {
  const items: JsonValue[] = [];
  for (let more = startsItem(cursor, ']'); more; more = startsItem(cursor, ']')) {
    items.push(readNode(cursor, depth));
    endItem(cursor, ']');
  }
  return items;
}

function readMembers(cursor: Cursor, depth: number): JsonValue {
  const object = {};
  for (let more = startsItem(cursor, '}'); more; more = startsItem(cursor, '}')) {
    const isQuoted = isQuote(cursor.code());
    const key = isQuoted ? readQuoted(cursor) : plainKey(readWord(cursor));
    if (key === undefined || cursor.code() !== char.colon) throw unsupported;
    cursor.at += 1;
    // Only a quoted key may have its colon without a space; otherwise the colon may be part of the
    // word.
    if (!isQuoted && cursor.code() !== char.space) throw unsupported;
    cursor.skipSpaces();
    setMember(object, key, readNode(cursor, depth));
    endItem(cursor, '}');
  }
  return object;
}

function readNode(cursor: Cursor, depth: number): JsonValue {
  const code = cursor.code();
  if (isQuote(code)) return readQuoted(cursor);
  if (code === char.bracket || code === char.brace) return readCollection(cursor, depth + 1);
  const value = resolvePlain(readWord(cursor));
  // Infinity has no JSON: the `yaml` package's reader reports the error.
  if (typeof value === 'number' && !Number.isFinite(value)) throw unsupported;
  return value;
}

// Moves over the opening bracket or the comma; false at the end of the collection, behind it.
function startsItem(cursor: Cursor, close: string): boolean {
  const opened = cursor.text.charAt(cursor.at) !== close;
  cursor.at += 1;
  if (!opened) return false;
  cursor.skipSpaces();
  if (cursor.text.charAt(cursor.at) !== close) return true;
  cursor.at += 1;
  return false;
}

function endItem(cursor: Cursor, close: string): void {
  cursor.skipSpaces();
  const next = cursor.text.charAt(cursor.at);
  if (next !== ',' && next !== close) throw unsupported;
}

function isQuote(code: number): boolean {
  return code === char.doubleQuote || code === char.singleQuote;
}

const word = /[A-Za-z0-9_./][A-Za-z0-9_./-]*/y;

function readWord(cursor: Cursor): string {
  word.lastIndex = cursor.at;
  const found = word.exec(cursor.text)?.[0];
  if (found === undefined) throw unsupported;
  cursor.at += found.length;
  return found;
}
