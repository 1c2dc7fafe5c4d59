import { createHash } from 'node:crypto';
import { stringifyJson } from '../../api/json.ts';

/**
 * Hash of a value as RukPak computes it (spec section 5.3): base36 of SHA-224 over the value's Go
 * JSON and a newline. Keys are written in the order the value has them, which is to be the field
 * order of the Go struct; maps go through `sortedMap`. Members that are `undefined` are left out.
 */
export function hashObject(value: object): string {
  const digest = createHash('sha224')
    .update(`${goJson(value)}\n`)
    .digest('hex');
  return BigInt(`0x${digest}`).toString(36);
}

/** A map as Go writes it: keys in byte order. Undefined where Go's omitempty drops it. */
export function sortedMap(
  map: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> | undefined {
  const keys = Object.keys(map ?? {});
  if (map === undefined || keys.length === 0) return undefined;
  keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const sorted: Record<string, string> = Object.create(null);
  for (const key of keys) sorted[key] = map[key] ?? '';
  return sorted;
}

/** JSON text as Go's encoding/json writes it, with its escapes for HTML. */
export function goJson(value: object): string {
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
