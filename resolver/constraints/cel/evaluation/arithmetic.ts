import { intOf, uintOf } from './conversions.ts';
import type { Steps } from './steps.ts';
import { durationOf, timestampOf } from './time.ts';
import {
  Duration,
  failed,
  type Implementation,
  Int,
  kindOf,
  numberOf,
  type Operands,
  type Result,
  Timestamp,
  type Value,
} from './values.ts';

export function negated([value]: Operands): Result {
  if (value instanceof Int) return intOf(-value.value);
  if (value instanceof Duration) return durationOf(-value.nanoseconds);
  const number = numberOf(value);
  return typeof number === 'number' ? -number : failed;
}

/** On two ints, two uints or two doubles. */
function arithmetic(
  whole: (a: bigint, b: bigint) => bigint | undefined,
  real: (a: number, b: number) => number,
): Implementation {
  return ([a, b]) => {
    const kind = kindOf(a);
    const [left, right] = [numberOf(a), numberOf(b)];
    if (kind !== kindOf(b) || left === undefined || right === undefined) return failed;
    if (typeof left === 'number' || typeof right === 'number')
      return real(Number(left), Number(right));
    const result = whole(left, right);
    if (result === undefined) return failed;
    return a instanceof Int ? intOf(result) : uintOf(result);
  };
}

const plus = arithmetic(
  (a, b) => a + b,
  (a, b) => a + b,
);
const minus = arithmetic(
  (a, b) => a - b,
  (a, b) => a - b,
);
const modulo = arithmetic(
  (a, b) => (b === 0n ? undefined : a % b),
  () => Number.NaN,
);

export function remainder(args: Operands, steps: Steps): Result {
  const [a, b] = args;
  if (kindOf(a) === 'double') return failed;
  // Upstream refuses it, though its result is zero.
  if (a instanceof Int && b instanceof Int && b.value === -1n && a.value === smallestInt)
    return failed;
  return modulo(args, steps);
}

const smallestInt = -(2n ** 63n);

export function added(args: Operands, steps: Steps): Result {
  const [a, b] = args;
  if (typeof a === 'string' && typeof b === 'string') {
    steps.read(a, b);
    return a + b;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    steps.take(a.length + b.length);
    return [...(a as unknown[]), ...(b as unknown[])];
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    steps.read(a, b);
    return Buffer.concat([a, b]);
  }
  return addedTime(a, b) ?? plus(args, steps);
}

function addedTime(a: Value, b: Value): Result | undefined {
  if (!(a instanceof Duration || a instanceof Timestamp)) return undefined;
  if (!(b instanceof Duration || b instanceof Timestamp)) return failed;
  const sum = a.nanoseconds + b.nanoseconds;
  if (a instanceof Timestamp) return b instanceof Timestamp ? failed : timestampOf(sum, a.offset);
  return b instanceof Timestamp ? timestampOf(sum, b.offset) : durationOf(sum);
}

export function subtracted(args: Operands, steps: Steps): Result {
  const [a, b] = args;
  if (!(a instanceof Duration || a instanceof Timestamp)) return minus(args, steps);
  if (!(b instanceof Duration || b instanceof Timestamp)) return failed;
  const difference = a.nanoseconds - b.nanoseconds;
  if (a instanceof Duration) return b instanceof Duration ? durationOf(difference) : failed;
  return b instanceof Duration ? timestampOf(difference, a.offset) : durationOf(difference);
}

export const multiplied = arithmetic(
  (a, b) => a * b,
  (a, b) => a * b,
);
export const divided = arithmetic(
  (a, b) => (b === 0n ? undefined : a / b),
  (a, b) => a / b,
);
