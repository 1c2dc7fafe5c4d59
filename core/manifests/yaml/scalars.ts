import { yamlError } from './yaml-text.ts';

/**
 * A plain scalar as Go's YAML 1.1 reads it. Returns infinities and NaN as numbers; the caller
 * decides whether they are allowed.
 */
export function resolvePlain(text: string): null | boolean | number | bigint | string {
  if (!mayBeTyped(text)) return text;
  const word = words.get(text);
  if (word !== undefined) return word;
  return resolveInteger(text) ?? resolveFloat(text) ?? text;
}

/** The integer of a plain scalar, exact in any size; undefined for anything else. */
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
  // Go keeps decimals of any size as floats; this project keeps their digits. Other notations must
  // fit into 64 bits.
  if (digits.startsWith('0') && !fitsSixtyFourBits(value)) return undefined;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** The float of a plain scalar; undefined for anything else, and above a double's range. */
function resolveFloat(text: string): number | undefined {
  const special = specialFloats.get(text);
  if (special !== undefined) return special;
  const startsWithDot = text.startsWith('.');
  if (!startsWithDot && !startsNumber(text.charCodeAt(0))) return undefined;
  // After a leading dot Go allows underscores only between digits, elsewhere anywhere.
  if (startsWithDot && strayUnderscore.test(text)) return undefined;
  const plain = withoutUnderscores(text);
  if (!float.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

// A double has at most 309 digits; Go reads longer ones as a string.
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

// Most scalars are strings, as their first character shows.
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

function fitsSixtyFourBits(value: bigint | number): boolean {
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}

/**
 * The JSON key of a plain scalar: `on` is "true", `1e6` is "1e+06". Undefined for keys that Go
 * refuses: null, and integers that fit only into 64 bits without sign.
 */
export function plainKey(text: string): string | undefined {
  const value = resolvePlain(text);
  if (typeof value === 'string') return value;
  if (value === null) return undefined;
  if (typeof value === 'boolean') return String(value);
  const integer = resolveInteger(text);
  if (integer === undefined) return floatKey(resolveFloat(text) ?? Number.NaN);
  if (isUnsigned(integer)) return undefined;
  // Go reads integers beyond 64 bits as floats.
  return fitsSixtyFourBits(integer) ? integer.toString() : floatKey(Number(integer));
}

function isUnsigned(integer: bigint | number): boolean {
  return integer >= 2n ** 63n && fitsSixtyFourBits(integer);
}

/** Sets a member as data, so that `__proto__` is an ordinary key. */
export function setMember(object: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else {
    (object as Record<string, unknown>)[key] = value;
  }
}

// Go writes float keys with the shortest digits of a 32-bit float, in its %g format.
function floatKey(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  const single = Math.fround(value);
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf';
  const shortest = shortestSingle(single);
  const [digits = '0', exponentText = '0'] = shortest.split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return Object.is(single, -0) ? '-0' : `${Number(shortest)}`;
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function shortestSingle(value: number): string {
  for (let fraction = 0; fraction < 9; fraction += 1) {
    const text = value.toExponential(fraction);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential(9);
}

type Resolved = null | boolean | number | bigint | string;

/**
 * A scalar with an explicit tag, in any style: Go reads the text, then checks it against the tag.
 */
export function resolveTagged(tag: string, text: string): Resolved {
  if (tag === `${core}binary`) return decodeBinary(text);
  const accepts = acceptors.get(tag);
  if (accepts === undefined) return text;
  const value = resolvePlain(text);
  if (accepts(value, text)) return value;
  throw yamlError(
    `cannot decode !!${kindOf(value, text)} \`${text}\` as a !!${tag.slice(core.length)}`,
  );
}

const core = 'tag:yaml.org,2002:';

// Other tags (`!!str`, `!`, an application's own) leave the text unchanged.
const acceptors: ReadonlyMap<string, (value: Resolved, text: string) => boolean> = new Map<
  string,
  (value: Resolved, text: string) => boolean
>([
  [`${core}null`, (value) => value === null],
  [`${core}bool`, (value) => typeof value === 'boolean'],
  [`${core}int`, (_, text) => isInteger(text)],
  [`${core}float`, (_, text) => (resolveInteger(text) ?? resolveFloat(text)) !== undefined],
  [`${core}timestamp`, (_, text) => timestamp.test(text)],
]);

const timestamp =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt ]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})?)?$/;

function kindOf(value: Resolved, text: string): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  return isInteger(text) ? 'int' : 'float';
}

// Go reads integers beyond 64 bits as floats.
function isInteger(text: string): boolean {
  const integer = resolveInteger(text);
  return integer !== undefined && fitsSixtyFourBits(integer);
}

function decodeBinary(text: string): string {
  const encoded = text.replace(/[\r\n]/g, '');
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) {
    throw yamlError('!!binary value contains invalid base64 data');
  }
  return Buffer.from(encoded, 'base64').toString('utf8');
}
