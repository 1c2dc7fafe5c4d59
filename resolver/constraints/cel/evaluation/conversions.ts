import type { Steps } from './steps.ts';
import {
  durationText,
  parseDuration,
  parseTimestamp,
  secondsOf,
  timestampOf,
  timestampText,
} from './time.ts';
import {
  Duration,
  failed,
  Int,
  kindOf,
  numberOf,
  type Result,
  Timestamp,
  TypeName,
  Uint,
  type Value,
} from './values.ts';

const maxInt = 2n ** 63n - 1n;
const maxUint = 2n ** 64n - 1n;

/** An int of 64 bits. */
export function intOf(value: bigint): Result {
  return value > maxInt || value < -maxInt - 1n ? failed : new Int(value);
}

/** A uint of 64 bits. */
export function uintOf(value: bigint): Result {
  return value > maxUint || value < 0n ? failed : new Uint(value);
}

/** What functions of a type's name make of a value: `int("5")`. */
export const conversions: ReadonlyMap<string, (value: Value, steps: Steps) => Result> = new Map([
  ['type', (value) => new TypeName(kindOf(value))],
  ['dyn', (value) => value],
  ['bool', toBool],
  ['bytes', toBytes],
  ['double', toDouble],
  ['int', toInt],
  ['uint', toUint],
  ['string', toText],
  ['duration', toDuration],
  ['timestamp', toTimestamp],
]);

const truths: ReadonlySet<unknown> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falsehoods: ReadonlySet<unknown> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function toBool(value: Value): Result {
  if (typeof value === 'boolean') return value;
  if (truths.has(value)) return true;
  return falsehoods.has(value) ? false : failed;
}

function toBytes(value: Value, steps: Steps): Result {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'string') return failed;
  steps.read(value, value);
  return Buffer.from(value);
}

const decimal = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;
const hexadecimal = /^([-+]?)0x([\da-f]*)\.?([\da-f]*)p([-+]?\d{1,5})$/i;
const special: ReadonlyMap<string, number> = new Map([
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
]);
/** Longer texts of numbers are refused; every number has a shorter one. */
const longestNumber = 1_000;

/** What reading or writing a number takes. */
const numberSteps = 10;

function toDouble(value: Value, steps: Steps): Result {
  const number = numberOf(value);
  if (number !== undefined) return Number(number);
  if (typeof value !== 'string' || value.length > longestNumber) return failed;
  steps.take(numberSteps);
  const digits = value.replaceAll(/(?<=[\da-fx])_(?=[\da-f])/gi, '');
  if (decimal.test(digits)) return finite(Number(digits));
  const hexadecimals = hexadecimal.exec(digits);
  return hexadecimals === null
    ? named(value.toLowerCase())
    : finite(hexadecimalNumber(hexadecimals));
}

/** Infinity, or none. */
function named(text: string): Result {
  if (text === 'nan') return Number.NaN;
  const size = special.get(text.replace(/^[-+]/, ''));
  if (size === undefined) return failed;
  return text.startsWith('-') ? -size : size;
}

function finite(number: number): Result {
  return Number.isFinite(number) ? number : failed;
}

function hexadecimalNumber([, sign, whole = '', fraction = '', exponent]: RegExpExecArray): number {
  if (`${whole}${fraction}` === '') return Number.NaN;
  const size =
    Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(exponent) - 4 * fraction.length);
  return sign === '-' ? -size : size;
}

function toInt(value: Value): Result {
  if (value instanceof Timestamp) return intOf(secondsOf(value));
  if (value instanceof Duration) return intOf(value.nanoseconds);
  if (typeof value === 'string')
    return /^[-+]?\d{1,1000}$/.test(value) ? intOf(BigInt(signless(value))) : failed;
  const number = numberOf(value);
  if (typeof number === 'bigint') return intOf(number);
  const isInside = number !== undefined && number > -(2 ** 63) && number < 2 ** 63;
  return isInside ? intOf(BigInt(Math.trunc(number))) : failed;
}

function toUint(value: Value): Result {
  if (typeof value === 'string') return /^\d{1,1000}$/.test(value) ? uintOf(BigInt(value)) : failed;
  const number = numberOf(value);
  if (typeof number === 'bigint') return uintOf(number);
  const isInside = number !== undefined && number >= 0 && number < 2 ** 64;
  return isInside ? uintOf(BigInt(Math.trunc(number))) : failed;
}

/** BigInt reads no plus sign. */
function signless(text: string): string {
  return text.startsWith('+') ? text.slice(1) : text;
}

function toText(value: Value, steps: Steps): Result {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Uint8Array) {
    steps.read(value, value);
    return decoded(value);
  }
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Timestamp) return timestampText(value);
  const number = numberOf(value);
  if (number === undefined) return failed;
  steps.take(numberSteps);
  return numberText(number);
}

function decoded(bytes: Uint8Array): Result {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return failed;
    throw error;
  }
}

/** As Go's %v and %g write a number: with an exponent from 1e+06, or below 1e-04. */
export function numberText(number: number | bigint): string {
  if (typeof number === 'bigint') return String(number);
  if (!Number.isFinite(number)) return infinite(number);
  const [digits = '', exponent = '0'] = number.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return Object.is(number, -0) ? '-0' : String(number);
  const sign = power < 0 ? '-' : '+';
  return `${digits}e${sign}${`${Math.abs(power)}`.padStart(2, '0')}`;
}

function infinite(number: number): string {
  if (Number.isNaN(number)) return 'NaN';
  return number > 0 ? '+Inf' : '-Inf';
}

/** What reading a time takes. */
const timeSteps = 100;

function toDuration(value: Value, steps: Steps): Result {
  if (value instanceof Duration) return value;
  steps.take(timeSteps);
  return typeof value === 'string' ? parseDuration(value) : failed;
}

function toTimestamp(value: Value, steps: Steps): Result {
  if (value instanceof Timestamp) return value;
  steps.take(timeSteps);
  if (typeof value === 'string') return parseTimestamp(value);
  return value instanceof Int ? timestampOf(value.value * 1_000_000_000n) : failed;
}
