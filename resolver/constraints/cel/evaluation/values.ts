import type { Steps } from './steps.ts';

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

/** The operands of a function or operator. */
export type Operands = readonly [Value, Value, ...Value[]];

/** A function or operator, for values of any types. */
export type Implementation = (operands: Operands, steps: Steps) => Result;
