/** A type of the checker. Values of the properties are of type `any`, which fits every other. */
export interface Type {
  readonly kind: Kind;
  /** Of lists (item), maps (key, value) and types (what it is the type of). */
  readonly of: readonly Type[];
  /** Of a variable: its number. */
  readonly variable?: number;
  /** Number of types that it is made of. */
  readonly size: number;
}

export type Kind = SimpleKind | 'list' | 'map' | 'type' | 'variable';

const simpleKinds = [
  'bool',
  'int',
  'uint',
  'double',
  'string',
  'bytes',
  'null',
  'duration',
  'timestamp',
  'dyn',
  'any',
  'error',
] as const;

type SimpleKind = (typeof simpleKinds)[number];

export const simpleTypes = Object.fromEntries(
  simpleKinds.map((kind) => [kind, { kind, of: [], size: 1 }]),
) as unknown as Readonly<Record<SimpleKind, Type>>;

/** Types may double with each variable that holds one: `x.map(y, {y: y}).map(z, {z: z})`. */
const maxSize = 1_000;

/** A type of an expression is larger than any use has. */
export class TypeTooLargeError extends Error {
  override readonly name = 'TypeTooLargeError';
}

export function listOf(item: Type): Type {
  return sized({ kind: 'list', of: [item] });
}

export function mapOf(key: Type, value: Type): Type {
  return sized({ kind: 'map', of: [key, value] });
}

export function typeOf(...of: readonly Type[]): Type {
  return sized({ kind: 'type', of });
}

export function variableType(variable: number): Type {
  return { kind: 'variable', of: [], variable, size: 1 };
}

function sized(type: Omit<Type, 'size'>): Type {
  const size = type.of.reduce((sum, part) => sum + part.size, 1);
  if (size > maxSize) {
    throw new TypeTooLargeError(`a type in it has more than ${maxSize} parts: nest fewer maps`);
  }
  return { ...type, size };
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  return (
    a.kind === b.kind &&
    a.variable === b.variable &&
    a.of.length === b.of.length &&
    a.of.every((part, at) => sameType(part, b.of[at] as Type))
  );
}

export function isDynamic({ kind }: Type): boolean {
  return kind === 'dyn' || kind === 'any';
}

export function isDynamicOrError(type: Type): boolean {
  return isDynamic(type) || type.kind === 'error';
}

/** The less specific of two types that fit each other. */
export function moreGeneral(a: Type, b: Type): Type {
  return isLessSpecific(a, b) ? a : b;
}

/** The type of what is one of two; `dyn` when they differ. */
export function commonType(a: Type, b: Type): Type {
  return isDynamic(a) || sameType(a, b) ? a : simpleTypes.dyn;
}

function isLessSpecific(a: Type, b: Type): boolean {
  if (isDynamic(a) || a.kind === 'variable') return true;
  if (isDynamic(b) || b.kind === 'variable' || a.kind !== b.kind) return false;
  return a.kind === 'type' || a.of.every((part, at) => isLessSpecific(part, b.of[at] as Type));
}

const names: Readonly<Partial<Record<Kind, string>>> = { error: '!error!' };

/** As cel-go writes it in errors. */
export function typeText({ kind, of, variable }: Type): string {
  if (variable !== undefined) return `_var${variable}`;
  const name = names[kind] ?? kind;
  return of.length === 0 ? name : `${name}(${of.map(typeText).join(', ')})`;
}
