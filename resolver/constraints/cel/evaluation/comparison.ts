import type { Steps } from './steps.ts';
import {
  Duration,
  keysOf,
  kindOf,
  type MapValue,
  numberOf,
  sizeOfMap,
  Timestamp,
  TypeName,
  type Value,
  valueAt,
} from './values.ts';

/** Values of different types are not equal, except for numbers; nothing fails. */
export function equal(a: Value, b: Value, steps: Steps): boolean {
  steps.take(1);
  const [left, right] = [numberOf(a), numberOf(b)];
  // biome-ignore lint/suspicious/noDoubleEquals: compares numbers of different types exactly
  if (left !== undefined && right !== undefined) return left == right;
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  switch (kind) {
    case 'list':
      return equalLists(a as readonly Value[], b as readonly Value[], steps);
    case 'map':
      return equalMaps(a as MapValue, b as MapValue, steps);
    default:
      return compareValues(a, b, steps) === 0;
  }
}

function equalLists(a: readonly Value[], b: readonly Value[], steps: Steps): boolean {
  return a.length === b.length && a.every((item, at) => equal(item, b[at] as Value, steps));
}

function equalMaps(a: MapValue, b: MapValue, steps: Steps): boolean {
  steps.take(sizeOfMap(a));
  if (sizeOfMap(a) !== sizeOfMap(b)) return false;
  return keysOf(a).every((key) => {
    const [one, other] = [valueAt(a, key), valueAt(b, key)];
    return one !== undefined && other !== undefined && equal(one, other, steps);
  });
}

/** Negative, zero or positive; undefined for values of different types, unless they are numbers. */
export function compareValues(a: Value, b: Value, steps: Steps): number | undefined {
  const areNumbers = numberOf(a) !== undefined && numberOf(b) !== undefined;
  if (!areNumbers && kindOf(a) !== kindOf(b)) return undefined;
  const [left, right] = [comparable(a, steps), comparable(b, steps)];
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  return compareNumbers(left as number | bigint, right as number | bigint);
}

function compareNumbers(a: number | bigint, b: number | bigint): number | undefined {
  if (Number.isNaN(a) || Number.isNaN(b)) return undefined;
  return a < b ? -1 : Number(a > b);
}

function comparable(value: Value, steps: Steps): string | number | bigint | undefined {
  if (typeof value === 'string') {
    steps.read(value);
    return value;
  }
  if (typeof value === 'boolean') return Number(value);
  if (value === null) return 0;
  if (value instanceof Uint8Array) {
    steps.read(value);
    return Buffer.from(value).toString('latin1');
  }
  if (value instanceof Duration || value instanceof Timestamp) return value.nanoseconds;
  return value instanceof TypeName ? value.name : numberOf(value);
}

/** By code points, which JavaScript's order is not: it takes surrogates for lower than U+E000. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === length) return a.length - b.length;
  const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
  return rank(left) - rank(right);
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
