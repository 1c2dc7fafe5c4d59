import type { JsonValue } from '../../../../api/json.ts';
import { setMember } from '../scalars.ts';
import { type Cursor, unsupported } from './cursor.ts';

/**
 * Maximum additions by aliases here: nodes and keys, with one more per 64 characters of a text. The
 * `yaml` package's reader handles larger documents, and reports too large ones.
 */
const maxCopied = 10_000;

/** The anchors of a document, each name once, with their values. */
export class Anchors {
  /** Undefined while the value is being read. */
  readonly #values = new Map<string, JsonValue | undefined>();
  #copied = 0;
  #followed: JsonValue | undefined;

  /** Reads the anchor at the cursor; its value follows. */
  open(cursor: Cursor): string {
    const name = readName(cursor);
    if (this.#values.has(name)) throw unsupported;
    this.#values.set(name, undefined);
    return name;
  }

  close(name: string, value: JsonValue): void {
    // An alias cannot have an anchor.
    if (value === this.#followed) throw unsupported;
    this.#values.set(name, value);
  }

  /** Reads the alias at the cursor; each alias gets its own copy of the value. */
  follow(cursor: Cursor): JsonValue {
    const value = this.#values.get(readName(cursor));
    // Unknown, or part of its own value.
    if (value === undefined) throw unsupported;
    this.#followed = this.#copy(value);
    return this.#followed;
  }

  #copy(value: JsonValue): JsonValue {
    this.#count(typeof value === 'string' ? value : '');
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => this.#copy(item));
    const copy = {};
    for (const [key, member] of Object.entries(value)) {
      this.#count(key);
      setMember(copy, key, this.#copy(member as JsonValue));
    }
    return copy;
  }

  #count(text: string): void {
    this.#copied += 1 + (text.length >> 6);
    if (this.#copied > maxCopied) throw unsupported;
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
