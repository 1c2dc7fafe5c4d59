import { isInteger } from './numbers.ts';

/** Values as Go's fmt prints them, because the API server's texts do. */

const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

/** `%q` of a string. */
export function goQuote(text: string): string {
  return `"${text.replace(/["\\]|[^\P{C}]|[^\P{Z} ]/gu, escaped)}"`;
}

function escaped(character: string): string {
  const known = escapes.get(character);
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** `%v` of a number: floats with an exponent of at least two digits from 1e21 and below 1e-4. */
export function goNumber(value: number | bigint): string {
  if (isInteger(value)) return value.toString();
  const float = Number(value);
  const small = float !== 0 && Math.abs(float) < 1e-4;
  const text = small ? float.toExponential() : String(float);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
