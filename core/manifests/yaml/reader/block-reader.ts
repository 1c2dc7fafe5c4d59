import type { JsonValue } from '../../../../api/json.ts';
import { isJsonObject } from '../../json-types.ts';
import { plainKey, resolvePlain, setMember } from '../scalars.ts';
import { maxNesting } from '../yaml-text.ts';
import { Anchors } from './anchors.ts';
import { readBlockScalar } from './block-scalar.ts';
import { Cursor, char, trimBlanksEnd, unsupported } from './cursor.ts';
import { readFlow } from './flow.ts';
import { knownKey, rememberKey } from './known-keys.ts';
import { readPlainText, readQuoted } from './scalar-text.ts';

/**
 * Reads the YAML of nearly all manifests, many times faster than the `yaml` package: block style,
 * scalars of any style, simple flow collections, anchors of a key's value, aliases and merge keys.
 * It never guesses: for anything else (tags, other anchors, errors of any kind) it returns
 * undefined, and the `yaml` package reads the text instead.
 */
export function readBlockStyle(text: string): { readonly value: JsonValue } | undefined {
  // Every search for the end of a line relies on this.
  if (!text.endsWith('\n')) return undefined;
  try {
    return { value: new BlockReader(text).document() };
  } catch (error) {
    if (error === unsupported) return undefined;
    throw error;
  }
}

const mergeKey = Symbol('<<');
type Key = string | typeof mergeKey;

/** Alone on the first line; in other places it is left to the package. */
const documentStart = '---\n';

const mergesAlias = /(?:!!merge )?<<: +(?=\*)/y;

class BlockReader {
  readonly #cursor: Cursor;
  readonly #anchors = new Anchors();
  #depth = 0;

  constructor(text: string) {
    this.#cursor = new Cursor(text, text.startsWith(documentStart) ? documentStart.length : 0);
  }

  document(): JsonValue {
    if (this.#cursor.column === -1) return null;
    const value = this.#node(-1);
    if (this.#cursor.column !== -1) throw unsupported;
    return value;
  }

  // The node at the cursor, which may be a collection; it is further right than column `parent`.
  #node(parent: number): JsonValue {
    const cursor = this.#cursor;
    if (cursor.code() === char.dash && cursor.isIndicator()) return this.#sequence(cursor.column);
    const column = cursor.column;
    const key = this.#key();
    return key === undefined ? this.#scalar(parent) : this.#mapping(column, key);
  }

  #mapping(column: number, firstKey: Key): JsonValue {
    this.#descend();
    const object = {};
    for (let key: Key | undefined = firstKey; key !== undefined; ) {
      if (key === mergeKey) this.#merge(object);
      else setMember(object, key, this.#mapped(column));
      if (this.#cursor.column > column) throw unsupported;
      if (this.#cursor.column < column) break;
      key = this.#key();
      if (key === undefined) throw unsupported;
    }
    this.#depth -= 1;
    return object;
  }

  // As in Go, a merge overrides earlier keys, and later keys override it.
  #merge(object: object): void {
    const merged = this.#alias();
    if (!isJsonObject(merged)) throw unsupported;
    for (const [key, value] of Object.entries(merged)) setMember(object, key, value);
  }

  // The value of a key in the given column; the cursor is behind the key's colon.
  #mapped(column: number): JsonValue {
    const cursor = this.#cursor;
    cursor.skipSpaces();
    if (cursor.code() !== char.ampersand) return this.#unmarked(column);
    const anchor = this.#anchors.open(cursor);
    cursor.skipSpaces();
    const value = this.#unmarked(column);
    this.#anchors.close(anchor, value);
    return value;
  }

  #unmarked(column: number): JsonValue {
    const cursor = this.#cursor;
    if (!this.#atLineEnd()) return this.#scalar(column);
    cursor.endLine();
    if (cursor.column > column) return this.#node(column);
    const isSequence = cursor.code() === char.dash && cursor.isIndicator();
    return cursor.column === column && isSequence ? this.#sequence(column) : null;
  }

  #sequence(column: number): JsonValue {
    this.#descend();
    const cursor = this.#cursor;
    const items: JsonValue[] = [];
    while (cursor.column === column && cursor.code() === char.dash && cursor.isIndicator()) {
      items.push(this.#item(column));
    }
    if (cursor.column > column) throw unsupported;
    this.#depth -= 1;
    return items;
  }

  #item(column: number): JsonValue {
    const cursor = this.#cursor;
    const dash = cursor.at;
    cursor.at += 1;
    cursor.skipSpaces();
    if (this.#atLineEnd()) {
      cursor.endLine();
      return cursor.column > column ? this.#node(column) : null;
    }
    cursor.column = column + cursor.at - dash;
    return this.#node(column);
  }

  // Skips spaces, so that a `#` here starts a comment.
  #atLineEnd(): boolean {
    const code = this.#cursor.code();
    if (code === char.hash) this.#cursor.at -= 1;
    return code === char.newline || code === char.hash;
  }

  /** The key at the cursor, which moves behind its colon; undefined without a key. */
  #key(): Key | undefined {
    const code = this.#cursor.code();
    const mayMerge = code === char.less || code === char.bang;
    return mayMerge && this.#skipMergeKey() ? mergeKey : this.#textKey(code);
  }

  #textKey(code: number): string | undefined {
    const cursor = this.#cursor;
    const start = cursor.at;
    const isQuoted = code === char.doubleQuote || code === char.singleQuote;
    const key = isQuoted ? readQuoted(cursor) : this.#plainKey();
    cursor.skipSpaces();
    const found = key !== undefined && cursor.code() === char.colon && cursor.isIndicator();
    if (!found) {
      cursor.at = start;
      return undefined;
    }
    if (isQuoted && cursor.text.slice(start, cursor.at).includes('\n')) throw unsupported;
    cursor.at += 1;
    return key;
  }

  // Stops at the merged alias; merged collections are left to the `yaml` package.
  #skipMergeKey(): boolean {
    mergesAlias.lastIndex = this.#cursor.at;
    const found = mergesAlias.test(this.#cursor.text);
    if (found) this.#cursor.at = mergesAlias.lastIndex;
    return found;
  }

  // Stops at the colon; undefined when no colon of the line ends a key.
  #plainKey(): string | undefined {
    const cursor = this.#cursor;
    if (!startsPlain(cursor)) return undefined;
    const start = cursor.at;
    const end = colonOf(cursor.text, start);
    if (end === undefined) return undefined;
    cursor.at = end;
    return knownKey(cursor.text, start, end) ?? newKey(cursor.text.slice(start, end));
  }

  #scalar(parent: number): JsonValue {
    const cursor = this.#cursor;
    switch (cursor.code()) {
      case char.doubleQuote:
      case char.singleQuote:
        return this.#withLineEnd(readQuoted(cursor));
      case char.bar:
      case char.greater:
        return readBlockScalar(cursor, parent);
      case char.bracket:
      case char.brace:
        return this.#withLineEnd(readFlow(cursor));
      case char.asterisk:
        return this.#alias();
      default:
        if (!startsPlain(cursor)) throw unsupported;
        return finite(resolvePlain(readPlainText(cursor, parent)));
    }
  }

  #alias(): JsonValue {
    return this.#withLineEnd(this.#anchors.follow(this.#cursor));
  }

  #withLineEnd(value: JsonValue): JsonValue {
    this.#cursor.endLine();
    return value;
  }

  #descend(): void {
    this.#depth += 1;
    if (this.#depth > maxNesting) throw unsupported;
  }
}

function newKey(written: string): string {
  const text = trimBlanksEnd(written);
  const key = plainKey(text);
  if (key === undefined || text === '<<' || text.length > longestKey) throw unsupported;
  if (key === written) rememberKey(key);
  return key;
}

/** Go's limit for a key on one line. */
const longestKey = 1024;

const indicators = new Uint8Array(128);
for (const sign of '-?:,[]{}#&*!|>\'"%@`') indicators[sign.charCodeAt(0)] = 1;

function startsPlain(cursor: Cursor): boolean {
  const code = cursor.code();
  if (code === char.dash) return !cursor.isIndicator();
  return !Number.isNaN(code) && indicators[code] !== 1;
}

// Offset of the colon that ends a plain key which starts at `from`.
function colonOf(text: string, from: number): number | undefined {
  for (let at = from; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === char.newline || Number.isNaN(code)) return undefined;
    if (code === char.tab) throw unsupported;
    if (code === char.hash && text.charCodeAt(at - 1) === char.space) return undefined;
    if (code !== char.colon) continue;
    const next = text.charCodeAt(at + 1);
    if (next === char.space || next === char.newline) return at;
  }
}

function finite(value: JsonValue): JsonValue {
  if (typeof value === 'number' && !Number.isFinite(value)) throw unsupported;
  return value;
}
