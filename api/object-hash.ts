import { createHash } from 'node:crypto';
import { compareBytes } from './byte-order.ts';
import { stringifyJson } from './json.ts';

/**
 * Hash of a value as RukPak computes it: base36 of SHA-224 over the value's Go
 * JSON and a newline. Keys are written in the order the value has them, which is to be the field
 * order of the Go struct; maps go through `sortedMap`. Members that are `undefined` are left out.
 */
export function hashObject(value: object): string {
  const digest = createHash('sha224')
    .update(`${goJson(value)}\n`)
    .digest('hex');
  return BigInt(`0x${digest}`).toString(36);
}

/** A map as Go writes it: its members in the byte order of their keys. */
export function sortedMap<T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const entries = Object.entries(map).sort(([a], [b]) => compareBytes(a, b));
  // Without a prototype, `__proto__` is a key like any other.
  const sorted: Record<string, T> = Object.create(null);
  for (const [key, value] of entries) sorted[key] = value;
  return sorted;
}

/** JSON text as Go's encoding/json writes it, with its escapes for HTML. */
export function goJson(value: unknown): string {
  return stringifyJson(value).replace(escapedByGo, (found) => goEscapes[found] ?? found);
}

// The two-letter escapes come with their backslash, and an escaped backslash is stepped over whole.
const escapedByGo = /\\[\\bf]|[<>&\u2028\u2029]/g;

const goEscapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
  '\\b': '\\u0008',
  '\\f': '\\u000c',
};
