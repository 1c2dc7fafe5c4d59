import type { Node } from '../syntax.ts';
import { listOf, mapOf, simpleTypes, type Type, typeOf } from './types.ts';
import type { Unifier } from './unifier.ts';

/** What the checker knows of a function: one way to call it. */
export interface Overload {
  /** Called on its first argument: `text.size()`. */
  readonly isMember: boolean;
  readonly parameters: readonly string[];
  readonly result: string;
  /** Compares numbers of different types: cel-go allows it after the first macro alone. */
  readonly isAfterMacro: boolean;
}

/**
 * CEL's standard library, with operators by cel-go's names, and OLM's semver_compare. Parameters
 * that are single letters stand for any type, the same one at each place.
 */
const declarations = `
_==_(A, A): bool
_!=_(A, A): bool
_?_:_(bool, A, A): A
!_(bool): bool
-_(double): double
-_(int): int
_+_(bytes, bytes): bytes
_+_(double, double): double
_+_(duration, duration): duration
_+_(duration, timestamp): timestamp
_+_(timestamp, duration): timestamp
_+_(int, int): int
_+_(list A, list A): list A
_+_(string, string): string
_+_(uint, uint): uint
_-_(double, double): double
_-_(duration, duration): duration
_-_(int, int): int
_-_(timestamp, duration): timestamp
_-_(timestamp, timestamp): duration
_-_(uint, uint): uint
_*_(double, double): double
_*_(int, int): int
_*_(uint, uint): uint
_/_(double, double): double
_/_(int, int): int
_/_(uint, uint): uint
_%_(int, int): int
_%_(uint, uint): uint
_[_](list A, int): A
_[_](map A B, A): B
@in(A, list A): bool
@in(A, map A B): bool
size(bytes): int
bytes.size(): int
size(list A): int
list A.size(): int
size(map A B): int
map A B.size(): int
size(string): int
string.size(): int
type(A): type A
dyn(A): dyn
bool(bool): bool
bool(string): bool
bytes(bytes): bytes
bytes(string): bytes
double(double): double
double(int): double
double(string): double
double(uint): double
duration(duration): duration
duration(string): duration
int(int): int
int(double): int
int(duration): int
int(string): int
int(timestamp): int
int(uint): int
string(string): string
string(bool): string
string(bytes): string
string(double): string
string(duration): string
string(int): string
string(timestamp): string
string(uint): string
timestamp(timestamp): timestamp
timestamp(int): timestamp
timestamp(string): timestamp
uint(uint): uint
uint(double): uint
uint(int): uint
uint(string): uint
string.contains(string): bool
string.endsWith(string): bool
string.startsWith(string): bool
matches(string, string): bool
string.matches(string): bool
duration.getHours(): int
duration.getMinutes(): int
duration.getSeconds(): int
duration.getMilliseconds(): int
semver_compare(any, any): int
`;

const numbers = ['int', 'uint', 'double'];
const ordered = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];

const timestampParts = [
  'getFullYear',
  'getMonth',
  'getDayOfYear',
  'getDayOfMonth',
  'getDate',
  'getDayOfWeek',
  'getHours',
  'getMinutes',
  'getSeconds',
  'getMilliseconds',
];

/** By the names of the functions. */
export const overloads: ReadonlyMap<string, readonly Overload[]> = Map.groupBy(
  [
    ...declarations.trim().split('\n'),
    ...['<', '<=', '>', '>='].flatMap((operator) =>
      ordered.flatMap((type) =>
        (numbers.includes(type) ? numbers : [type]).map(
          (other) => `_${operator}_(${type}, ${other}): bool`,
        ),
      ),
    ),
    ...timestampParts.flatMap((name) => [
      `timestamp.${name}(): int`,
      `timestamp.${name}(string): int`,
    ]),
  ].map(declared),
  ({ name }) => name,
);

function declared(text: string): Overload & { readonly name: string } {
  const [, receiver, name = '', given = '', result = ''] =
    /^(?:([^_@(]+)\.)?([^(]+)\((.*)\): (.+)$/.exec(text) ?? [];
  const parameters = given === '' ? [] : given.split(', ');
  const isMember = receiver !== undefined;
  const isAfterMacro = /^_[<>]/.test(name) && parameters[0] !== parameters[1];
  const all = isMember ? [receiver, ...parameters] : parameters;
  return { name, isMember, parameters: all, result, isAfterMacro };
}

/** The types of an overload for one call: its letters are new variables. */
export function instantiated(
  { parameters, result }: Overload,
  unifier: Unifier,
): { readonly parameters: readonly Type[]; readonly result: Type } {
  const variables = new Map<string, Type>();
  const read = (text: string): Type => {
    const [name = '', first = '', second = ''] = text.split(' ');
    if (name === 'list') return listOf(read(first));
    if (name === 'map') return mapOf(read(first), read(second));
    if (name === 'type') return typeOf(read(first));
    if (name.length > 1) return simpleTypes[name as keyof typeof simpleTypes];
    const known = variables.get(name) ?? unifier.newVariable();
    variables.set(name, known);
    return known;
  };
  return { parameters: parameters.map(read), result: read(result) };
}

/** Names of types, which are values. */
export const typeNames: ReadonlyMap<string, Type> = new Map<string, Type>([
  ...(['bool', 'bytes', 'double', 'int', 'string', 'uint'] as const).map(
    (name) => [name, typeOf(simpleTypes[name])] as const,
  ),
  ['list', typeOf(listOf(simpleTypes.dyn))],
  ['map', typeOf(mapOf(simpleTypes.dyn, simpleTypes.dyn))],
  ['null_type', typeOf(simpleTypes.null)],
  ['type', typeOf(typeOf())],
  ['google.protobuf.Duration', typeOf(simpleTypes.duration)],
  ['google.protobuf.Timestamp', typeOf(simpleTypes.timestamp)],
]);

/** Macros by name, with their numbers of arguments. */
export const macros: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
]);

/** cel-go's names of operators that differ from `_<operator>_`. */
export const operators: Readonly<Partial<Record<Node['op'], string>>> = {
  '!_': '!_',
  '-_': '-_',
  '[]': '_[_]',
  '?:': '_?_:_',
  in: '@in',
};
