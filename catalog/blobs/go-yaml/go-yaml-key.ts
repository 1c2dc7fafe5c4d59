import { scalarText } from './go-yaml-scalar.ts';

/** A key in YAML, and its number of columns. */
interface KeyText {
  readonly text: string;
  readonly width: number;
}

/** Catalogs repeat a few keys many times. */
const known = new Map<string, KeyText>();
const mostKnown = 10_000;

/** A key as go-yaml writes it before the colon: always on one line. */
export function keyText(key: string): KeyText {
  const found = known.get(key);
  if (found !== undefined) return found;
  const text = scalarText(key, { column: 0, indent: 0, isKey: true });
  const made = { text, width: Array.from(text).length };
  if (known.size < mostKnown) known.set(key, made);
  return made;
}

const longest = 128;

/** Whether go-yaml gives the key a line of its own. */
export function isLongKey(key: string): boolean {
  if (key.length * 3 <= longest && plain.test(key)) return false;
  return Buffer.byteLength(key) > longest || /[\n\r\x85\u2028\u2029]/.test(key);
}

const plain = /^[\w./-]*$/;
