/**
 * A plain scalar as Go's YAML 1.1 reads it. Infinities and NaN are
 * returned as numbers: whether they may stand is for the caller to say.
 */
export function resolvePlain(text: string): null | boolean | number | bigint | string {
  if (!mayBeTyped(text)) return text;
  const word = words.get(text);
  if (word !== undefined) return word;
  return resolveInteger(text) ?? resolveFloat(text) ?? text;
}

/** The integer that a plain scalar is, exact whatever its size; undefined where it is none. */
export function resolveInteger(text: string): number | bigint | undefined {
  if (!startsNumber(text.charCodeAt(0))) return undefined;
  const plain = withoutUnderscores(text);
  if (shortDecimal.test(plain)) return Number(plain) || 0;
  if (plain.length > longestInteger) return undefined;
  const match = integer.exec(plain);
  return match === null ? undefined : exactInteger(match[1] === '-', match[2] ?? '');
}

function exactInteger(negative: boolean, digits: string): number | bigint | undefined {
  const octal = /^0[0-7]/.test(digits);
  const size = BigInt(octal ? `0o${digits.slice(1)}` : digits);
  const value = negative ? -size : size;
  // Go keeps decimals of any size as floats; we keep their digits. Other notations must fit.
  if (digits.startsWith('0') && !fitsSixtyFourBits(value)) return undefined;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** The float that a plain scalar is; undefined where it is none or too large for a double. */
export function resolveFloat(text: string): number | undefined {
  const special = specialFloats.get(text);
  if (special !== undefined) return special;
  const startsWithDot = text.startsWith('.');
  if (!startsWithDot && !startsNumber(text.charCodeAt(0))) return undefined;
  // After a leading dot Go takes underscores between digits alone, elsewhere any.
  if (startsWithDot && strayUnderscore.test(text)) return undefined;
  const plain = withoutUnderscores(text);
  if (!float.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

// A double ends at 309 digits; Go reads what is longer as a string.
const longestInteger = 310;

const shortDecimal = /^[-+]?(?:[1-9][0-9]{0,14}|0)$/;
const integer = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[1-9][0-9]*)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

const strayUnderscore = /_(?![0-9])|[^0-9]_/;

const words: ReadonlyMap<string, null | boolean> = new Map([
  ...wordsFor(null, ['', '~', 'null', 'Null', 'NULL']),
  ...wordsFor(true, ['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON', 'true', 'True', 'TRUE']),
  ...wordsFor(false, ['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF', 'false', 'False', 'FALSE']),
]);

const specialFloats: ReadonlyMap<string, number> = new Map([
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Infinity] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, -Infinity] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
]);

function wordsFor<T>(value: T, spellings: readonly string[]): (readonly [string, T])[] {
  return spellings.map((word) => [word, value] as const);
}

const longestWord = 5;
const wordStarts = 'yYnNtTfFoO~';

// Most scalars are strings, and their first character says so.
function mayBeTyped(text: string): boolean {
  const first = text.charCodeAt(0);
  if (Number.isNaN(first) || startsNumber(first) || first === 0x2e) return true;
  return text.length <= longestWord && wordStarts.includes(text.charAt(0));
}

function startsNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d;
}

function withoutUnderscores(text: string): string {
  return text.includes('_') ? text.replaceAll('_', '') : text;
}

export function fitsSixtyFourBits(value: bigint | number): boolean {
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}
