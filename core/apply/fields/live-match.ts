import { type JsonObject, stringifyJson } from '../../../api/json.ts';
import { isMap, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  elementTree,
  type FieldTree,
  fieldPath,
  type IgnoredTree,
  isItem,
  itemPath,
  withoutFields,
} from './field-tree.ts';
import { managedFieldsOf } from './projection.ts';

/**
 * True when applying `desired` would change nothing: the live object has every desired field, and
 * core owns no field that is not desired. When in doubt it returns false, which costs one request.
 * Ignored fields may have any value.
 */
export function isApplied(
  desired: KubernetesObject,
  live: KubernetesObject,
  ignored?: IgnoredTree,
): boolean {
  const owned = managedFieldsOf(live);
  const asked = withoutFields(desired, ignored?.tree);
  return (
    owned !== undefined && isSubset(asked, live) && ownsNothingElse(owned, desired, ignored?.tree)
  );
}

/**
 * True when `live` has every value of `desired`. Lists must have the same length and are compared
 * by index; empty values may be missing, and quantities may be written differently.
 */
export function isSubset(desired: unknown, live: unknown, quantities = false): boolean {
  if (desired === undefined || desired === null) return true;
  if (isMap(desired)) {
    if (live !== undefined && live !== null && !isMap(live)) return false;
    return Object.keys(desired).every((key) =>
      isSubset(
        desired[key],
        isMap(live) && Object.hasOwn(live, key) ? live[key] : undefined,
        quantities || quantityFields.has(key),
      ),
    );
  }
  if (Array.isArray(desired)) {
    const items = listOf(live);
    return (
      desired.length === items.length &&
      desired.every((item, index) => isSubset(item, items[index], quantities))
    );
  }
  return isSameScalar(desired, live, quantities);
}

/** Fields whose values, or whose children's values, are resource quantities. */
const quantityFields: ReadonlySet<string> = new Set([
  'capacity',
  'default',
  'defaultRequest',
  'divisor',
  'hard',
  'limits',
  'max',
  'min',
  'requests',
  'sizeLimit',
]);

function isSameScalar(desired: unknown, live: unknown, quantities: boolean): boolean {
  if (desired === live) return true;
  if (live === undefined || live === null) return isZero(desired);
  if (isNumber(desired) && isNumber(live)) return stringifyJson(desired) === stringifyJson(live);
  return quantities && sameQuantity(asText(desired), asText(live));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** True for values that Go's omitempty omits. */
function isZero(value: unknown): boolean {
  return value === '' || value === false || value === 0;
}

/** True when each field of a fieldsV1 set is in `desired`, or ignored. */
function ownsNothingElse(fields: unknown, desired: unknown, tree: FieldTree | undefined): boolean {
  if (!isMap(fields)) return true;
  return Object.keys(fields).every((path) => {
    if (path === '.') return true;
    const below = elementTree(tree, path);
    if (below?.whole === true) return true;
    const found = step(path, desired);
    return found !== undefined && ownsNothingElse(fields[path], found.value, below);
  });
}

interface Found {
  readonly value: unknown;
}

/** Follows one path element of fieldsV1: `f:<field>`, `k:<keys>`, `v:<value>` or `i:<index>`. */
function step(path: string, parent: unknown): Found | undefined {
  const operand = path.slice(2);
  switch (path.slice(0, 2)) {
    case 'f:':
      return isMap(parent) && Object.hasOwn(parent, operand)
        ? { value: parent[operand] }
        : undefined;
    case 'k:':
    case 'v:':
      return itemAt(listOf(parent), path);
    case 'i:':
      return Number(operand) < listOf(parent).length
        ? { value: listOf(parent)[Number(operand)] }
        : undefined;
    default:
      return undefined;
  }
}

function itemAt(items: readonly unknown[], path: string): Found | undefined {
  const index = items.findIndex((item) => isItem(item, path));
  return index === -1 ? undefined : { value: items[index] };
}

/** Fields that identify the items of a list, in the order in which they are tried. */
const itemKeys = ['name', 'key', 'uid', 'type', 'mountPath', 'containerPort', 'port'] as const;

/**
 * Paths of the smallest fields of `desired` that `live` lacks. Lists whose items have a key may
 * have other items between them; other lists are compared by index.
 */
export function missingFields(desired: unknown, live: unknown, path = ''): readonly string[] {
  // The last field's name tells whether values are quantities, so maps are compared together with
  // it.
  if (isSubset(desired, live)) return [];
  if (isMap(desired) && isMap(live)) {
    return Object.keys(desired).flatMap((key) => missingField(desired, live, fieldStep(path, key)));
  }
  if (Array.isArray(desired) && Array.isArray(live)) return missingItems(desired, live, path);
  return [path];
}

interface Step {
  readonly key: string;
  readonly path: string;
}

function fieldStep(parent: string, key: string): Step {
  return { key, path: fieldPath(parent, key) };
}

function missingField(
  desired: JsonObject,
  live: JsonObject,
  { key, path }: Step,
): readonly string[] {
  const there = Object.hasOwn(live, key) ? live[key] : undefined;
  if (isSubset({ [key]: desired[key] }, { [key]: there })) return [];
  return missingFields(desired[key], there, path);
}

function missingItems(
  desired: readonly unknown[],
  live: readonly unknown[],
  path: string,
): readonly string[] {
  const key = itemKeys.find((each) => tellsApart(each, desired) && tellsApart(each, live));
  if (key === undefined) {
    if (desired.length !== live.length) return [path];
    return desired.flatMap((item, index) =>
      missingFields(item, live[index], itemPath(path, index)),
    );
  }
  return desired.flatMap((item) => {
    const name = isMap(item) ? item[key] : undefined;
    const there = listOf(live).find((other) => isMap(other) && other[key] === name);
    return missingFields(item, there, itemPath(path, { [key]: name }));
  });
}

/** True when each item is a map with a unique value in this field. */
function tellsApart(key: string, items: readonly unknown[]): boolean {
  const values = items.map((item) => (isMap(item) ? item[key] : undefined));
  return (
    values.every((value) => typeof value === 'string' || typeof value === 'number') &&
    new Set(values).size === items.length
  );
}

interface Scale {
  readonly factor: bigint;
  /** Power of ten on top of the factor. */
  readonly power: number;
}

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const scales: ReadonlyMap<string, Scale> = new Map([
  ...decimalSuffixes.map((suffix, index): [string, Scale] => [
    suffix,
    { factor: 1n, power: 3 * index - 9 },
  ]),
  ...binarySuffixes.map((suffix, index): [string, Scale] => [
    suffix,
    { factor: 1024n ** BigInt(index + 1), power: 0 },
  ]),
]);

const quantity =
  /^(?<sign>[+-]?)(?<whole>\d{0,30})\.?(?<fraction>(?<=\.)\d{0,30})?(?<suffix>\D{0,2}|[eE][+-]?\d{1,2})$/;

/** True when two texts are the same Kubernetes quantity: `1000m` and `1`, `1Gi` and `1024Mi`. */
export function sameQuantity(a: string, b: string): boolean {
  const left = nanosOf(a);
  return left !== undefined && left === nanosOf(b);
}

/** The quantity in units of 1e-9, the finest that Kubernetes knows. */
function nanosOf(text: string): bigint | undefined {
  const { sign, whole = '', fraction = '', suffix = '' } = quantity.exec(text)?.groups ?? {};
  const scale = scaleOf(suffix);
  if (whole + fraction === '' || scale === undefined) return undefined;
  const digits = BigInt(whole + fraction) * scale.factor * (sign === '-' ? -1n : 1n);
  const power = 9 + scale.power - fraction.length;
  return power >= 0 ? digits * 10n ** BigInt(power) : digits / 10n ** BigInt(-power);
}

function scaleOf(suffix: string): Scale | undefined {
  return /^[eE][+-]?\d/.test(suffix)
    ? { factor: 1n, power: Number(suffix.slice(1)) }
    : scales.get(suffix);
}
