import { compareVersions, parseTolerantVersion, VersionError } from '../../versions/index.ts';
import { conversions, intOf, numberText, uintOf } from './conversions.ts';
import { matches } from './matches.ts';
import { durationOf, durationPart, timestampOf, timestampPart } from './time.ts';
import {
  compareValues,
  Duration,
  equal,
  failed,
  Int,
  isMapValue,
  kindOf,
  numberOf,
  type Result,
  type Steps,
  sizeOfMap,
  Timestamp,
  Uint,
  type Value,
  valueAt,
} from './values.ts';

type Arguments = readonly [Value, Value, ...Value[]];
type Implementation = (args: Arguments, steps: Steps) => Result;

/** A function or operator of the standard library, or semver_compare, for values of any types. */
export function functionOf(name: string): (values: readonly Value[], steps: Steps) => Result {
  const conversion = conversions.get(name);
  if (conversion !== undefined) return ([value], steps) => conversion(value as Value, steps);
  const implementation = implementations.get(name);
  if (implementation === undefined) return (values, steps) => timePart(name, values, steps);
  return (values, steps) => implementation(values as unknown as Arguments, steps);
}

/** An item of a list or map; a failure without it. */
export function indexed(target: Value, index: Value): Result {
  if (Array.isArray(target)) {
    const number = numberOf(index);
    const at = number === undefined ? -1 : Number(number);
    // Sparse lists do not exist: they come from JSON, or from literals.
    return Number.isInteger(at) && at >= 0 && at < target.length ? (target[at] as Value) : failed;
  }
  if (!isMapValue(target)) return failed;
  const found = valueAt(target, index);
  return found === undefined ? failed : found;
}

const implementations: ReadonlyMap<string, Implementation> = new Map<string, Implementation>([
  ['==', ([a, b], steps) => equal(a, b, steps)],
  ['!=', ([a, b], steps) => !equal(a, b, steps)],
  ['<', ordered((order) => order < 0)],
  ['<=', ordered((order) => order <= 0)],
  ['>', ordered((order) => order > 0)],
  ['>=', ordered((order) => order >= 0)],
  ['!_', ([value]) => (typeof value === 'boolean' ? !value : failed)],
  ['-_', negated],
  ['+', added],
  ['-', subtracted],
  [
    '*',
    arithmetic(
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  ],
  [
    '/',
    arithmetic(
      (a, b) => (b === 0n ? undefined : a / b),
      (a, b) => a / b,
    ),
  ],
  ['%', remainder],
  ['in', contained],
  ['size', size],
  ['contains', searched],
  ['startsWith', compared((text, part) => text.startsWith(part))],
  ['endsWith', compared((text, part) => text.endsWith(part))],
  ['matches', matched],
  ['semver_compare', comparedVersions],
]);

function ordered(holds: (order: number) => boolean): Implementation {
  return ([a, b], steps) => {
    if (unordered.has(kindOf(a)) || unordered.has(kindOf(b))) return failed;
    const order = compareValues(a, b, steps);
    return order === undefined ? failed : holds(order);
  };
}

const unordered: ReadonlySet<string> = new Set(['null_type', 'type', 'list', 'map']);

function negated([value]: Arguments): Result {
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

function remainder(args: Arguments, steps: Steps): Result {
  const [a, b] = args;
  if (kindOf(a) === 'double') return failed;
  // Upstream refuses it, though its result is zero.
  if (a instanceof Int && b instanceof Int && b.value === -1n && a.value === smallestInt)
    return failed;
  return modulo(args, steps);
}

const smallestInt = -(2n ** 63n);

function added(args: Arguments, steps: Steps): Result {
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

function subtracted(args: Arguments, steps: Steps): Result {
  const [a, b] = args;
  if (!(a instanceof Duration || a instanceof Timestamp)) return minus(args, steps);
  if (!(b instanceof Duration || b instanceof Timestamp)) return failed;
  const difference = a.nanoseconds - b.nanoseconds;
  if (a instanceof Duration) return b instanceof Duration ? durationOf(difference) : failed;
  return b instanceof Duration ? timestampOf(difference, a.offset) : durationOf(difference);
}

function contained([value, container]: Arguments, steps: Steps): Result {
  if (Array.isArray(container)) return container.some((item) => equal(value, item as Value, steps));
  return isMapValue(container) ? valueAt(container, value) !== undefined : failed;
}

function size([value]: Arguments, steps: Steps): Result {
  if (typeof value === 'string') {
    steps.read(value);
    return new Int(
      BigInt(value.length - (value.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0)),
    );
  }
  if (value instanceof Uint8Array || Array.isArray(value)) return new Int(BigInt(value.length));
  if (!isMapValue(value)) return failed;
  const found = sizeOfMap(value);
  steps.take(found);
  return new Int(BigInt(found));
}

function compared(holds: (text: string, part: string) => boolean): Implementation {
  return ([text, part], steps) => {
    if (typeof text !== 'string' || typeof part !== 'string') return failed;
    steps.read(part);
    return holds(text, part);
  };
}

/** Texts up to this length are searched by the engine, whose time may be their product. */
const shortPart = 8;

function searched([text, part]: Arguments, steps: Steps): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return failed;
  steps.read(text, part);
  if (part.length <= shortPart || part.length >= text.length) return text.includes(part);
  steps.read(text, text, text, part, part, part);
  return includesInLinearTime(text, part);
}

/** Knuth, Morris and Pratt's search. */
function includesInLinearTime(text: string, part: string): boolean {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    length = extended({ part, borders, length }, part.charCodeAt(at));
    borders[at] = length;
  }
  length = 0;
  for (let at = 0; at < text.length && length < part.length; at += 1) {
    length = extended({ part, borders, length }, text.charCodeAt(at));
  }
  return length === part.length;
}

interface Beginning {
  readonly part: string;
  /** Of each beginning of the part, the length of the longest one that it ends with. */
  readonly borders: Int32Array;
  readonly length: number;
}

/** The length of the longest beginning of the part that ends with one more unit. */
function extended({ part, borders, length }: Beginning, unit: number): number {
  let found = length;
  while (found > 0 && part.charCodeAt(found) !== unit) found = borders[found - 1] ?? 0;
  return part.charCodeAt(found) === unit ? found + 1 : found;
}

function matched([text, pattern]: Arguments, steps: Steps): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string') return failed;
  return matches(text, pattern, steps);
}

/** OLM's function: versions, or anything whose text is one. */
function comparedVersions([a, b]: Arguments, steps: Steps): Result {
  const [left, right] = [versionOf(a, steps), versionOf(b, steps)];
  if (left === undefined || right === undefined) return failed;
  return new Int(BigInt(Math.sign(compareVersions(left, right))));
}

function versionOf(value: Value, steps: Steps) {
  const text = printed(value);
  if (text === undefined) return undefined;
  steps.read(text, text, text, text);
  steps.take(versionSteps);
  try {
    return parseTolerantVersion(text);
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/** The text of a value as Go prints it, of those that can be a version. */
function printed(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  const number = value instanceof Int || value instanceof Uint ? value.value : numberOf(value);
  return number === undefined ? undefined : numberText(number);
}

/** What reading a version, and finding the offset of a time zone, takes. */
const versionSteps = 50;
const zoneSteps = 5_000;

function timePart(name: string, [target, zone]: readonly Value[], steps: Steps): Result {
  if (target === undefined) return failed;
  if (zone !== undefined) steps.take(zoneSteps);
  const part = partOf(name, target, zone);
  return part === failed ? failed : new Int(BigInt(part));
}

function partOf(
  name: string,
  target: Value,
  zone: Value | undefined,
): number | bigint | typeof failed {
  if (target instanceof Duration) return durationPart(name, target);
  if (!(target instanceof Timestamp)) return failed;
  if (zone === undefined) return timestampPart(name, target, 'UTC');
  return typeof zone === 'string' ? timestampPart(name, target, zone) : failed;
}
