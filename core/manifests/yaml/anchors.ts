import type { JsonValue } from '../../../api/json.ts';
import { type Cursor, unsupported } from './cursor.ts';
import { setMember } from './scalars.ts';

/**
 * What aliases may add here: nodes, long texts counting once more per 64 characters. What has more is
 * left to the reader that says when it is too much.
 */
const maxCopied = 10_000;

/** The anchors of a document, each name once, and what they stand for. */
export class Anchors {
  /** Undefined while the value is being read. */
  readonly #values = new Map<string, JsonValue | undefined>();
  #copied = 0;
  #followed: JsonValue | undefined;

  /** Reads the anchor at the cursor, whose value is to come. */
  open(cursor: Cursor): string {
    const name = readName(cursor);
    if (this.#values.has(name)) throw unsupported;
    this.#values.set(name, undefined);
    return name;
  }

  close(name: string, value: JsonValue): void {
    // An alias has no anchor of its own.
    if (value === this.#followed) throw unsupported;
    this.#values.set(name, value);
  }

  /** Reads the alias at the cursor: every alias gets values of its own. */
  follow(cursor: Cursor): JsonValue {
    const value = this.#values.get(readName(cursor));
    // Unknown, or part of itself.
    if (value === undefined) throw unsupported;
    this.#followed = this.#copy(value);
    return this.#followed;
  }

  #copy(value: JsonValue): JsonValue {
    this.#copied += 1 + (typeof value === 'string' ? value.length >> 6 : 0);
    if (this.#copied > maxCopied) throw unsupported;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.#copy(item));
    const copy = {};
    for (const [key, member] of Object.entries(value)) {
      setMember(copy, key, this.#copy(member as JsonValue));
    }
    return copy;
  }
}

const nameAfterSign = /[&*]([A-Za-z0-9_-]+)(?=[ \n])/y;

function readName(cursor: Cursor): string {
  nameAfterSign.lastIndex = cursor.at;
  const [signed = '', name] = nameAfterSign.exec(cursor.text) ?? [];
  if (name === undefined) throw unsupported;
  cursor.at += signed.length;
  return name;
}
