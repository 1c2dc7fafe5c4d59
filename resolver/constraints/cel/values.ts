import type { Budget } from '../../budget.ts';
import { RuleRefusedError } from '../requirement.ts';

/**
 * A value of an expression. Parsed JSON is one as it is, because it is large: its numbers are
 * doubles, and large integers, which readers of JSON make bigint, are too.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Int
  | Uint
  | Duration
  | Timestamp
  | TypeName
  | MapLiteral
  | readonly unknown[]
  | object;

/** The outcome of an evaluation that went wrong; only logical operators go on with it. */
export const failed: unique symbol = Symbol('failed');

export type Result = Value | typeof failed;

export class Int {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Duration {
  readonly nanoseconds: bigint;
  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

export class Timestamp {
  /** Since 1970. */
  readonly nanoseconds: bigint;
  /** Seconds east of UTC of its text; matters for its text alone. */
  readonly offset: number;
  constructor(nanoseconds: bigint, offset = 0) {
    this.nanoseconds = nanoseconds;
    this.offset = offset;
  }
}

/** A type as a value. */
export class TypeName {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A map of an expression: its keys are not only texts. */
export class MapLiteral {
  /** By `keyOf` the key. */
  readonly entries = new Map<string, readonly [Value, Value]>();
}

/**
 * Steps that an evaluation may take. A step is about what comparing two numbers takes, or reading
 * `perStep` characters of a text; who makes a list or text pays for its items or characters.
 */
export const maxSteps = 100_000;
const perStep = 64;
/** What an evaluation takes besides. */
const evaluationSteps = 10;

export class Steps {
  readonly #budget: Budget;
  #left = maxSteps;

  constructor(budget: Budget) {
    this.#budget = budget;
    budget.take(evaluationSteps);
  }

  /**
   * @throws RuleRefusedError when none are left.
   * @throws BudgetError when none are left for the resolution.
   */
  take(steps: number): void {
    this.#budget.take(steps);
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new RuleRefusedError(
      `the expression takes more than ${maxSteps} steps for the properties of this bundle: use fewer lists inside of lists, and shorter texts`,
    );
  }

  read(...texts: readonly { readonly length: number }[]): void {
    this.take(texts.reduce((sum, { length }) => sum + length, 0) / perStep);
  }
}

export type KindName =
  | 'null_type'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'google.protobuf.Duration'
  | 'google.protobuf.Timestamp'
  | 'type'
  | 'list'
  | 'map';

/** By prototypes: an object of JSON may have a field "constructor". */
const kinds: ReadonlyMap<unknown, KindName> = new Map<unknown, KindName>([
  [Array.prototype, 'list'],
  [Int.prototype, 'int'],
  [Uint.prototype, 'uint'],
  [Uint8Array.prototype, 'bytes'],
  [Buffer.prototype, 'bytes'],
  [Duration.prototype, 'google.protobuf.Duration'],
  [Timestamp.prototype, 'google.protobuf.Timestamp'],
  [TypeName.prototype, 'type'],
]);

/** The name of a value's type. */
export function kindOf(value: Value): KindName {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    case 'number':
    case 'bigint':
      return 'double';
    default:
      if (value === null) return 'null_type';
      return kinds.get(Object.getPrototypeOf(value)) ?? 'map';
  }
}

/** A double, int or uint; undefined for others. */
export function numberOf(value: Value): number | bigint | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Int || value instanceof Uint ? value.value : undefined;
}

/** An evaluation ends without an outcome, which no logical operator absorbs. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

/**
 * Identifies a key of a map; undefined for what can be none.
 * @throws AbortedError for bytes, which Go cannot look up.
 */
export function keyOf(value: Value): string | undefined {
  if (value instanceof Uint8Array) throw new AbortedError('bytes are no keys of maps');
  const part = partOfKey(value);
  return part === undefined ? undefined : `${kindOf(value)} ${part}`;
}

function partOfKey(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Duration) return `${value.nanoseconds}`;
  if (value instanceof Timestamp) return `${value.nanoseconds} ${value.offset}`;
  if (value instanceof TypeName) return value.name;
  if (value === null || typeof value === 'boolean') return `${value}`;
  return numberOf(value)?.toString();
}

/** The keys that a number finds: a double finds ints and uints, and those each other. */
function keysFoundBy(value: Value): readonly string[] {
  const key = keyOf(value);
  if (key === undefined) return [];
  const number = numberOf(value);
  return Number.isInteger(number) || typeof number === 'bigint'
    ? [key, `int ${BigInt(number as number)}`, `uint ${BigInt(number as number)}`]
    : [key];
}

export type MapValue = MapLiteral | Readonly<Record<string, Value>>;

export function isMapValue(value: Value): value is MapValue {
  return kindOf(value) === 'map';
}

export function sizeOfMap(map: MapValue): number {
  return map instanceof MapLiteral ? map.entries.size : Object.keys(map).length;
}

export function keysOf(map: MapValue): readonly Value[] {
  if (!(map instanceof MapLiteral)) return Object.keys(map);
  return [...map.entries.values()].map(([key]) => key);
}

/** Undefined for a key that the map does not have. */
export function valueAt(map: MapValue, key: Value): Value | undefined {
  if (map instanceof MapLiteral) {
    const found = keysFoundBy(key).find((name) => map.entries.has(name));
    return map.entries.get(found ?? '')?.[1];
  }
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined;
}

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
