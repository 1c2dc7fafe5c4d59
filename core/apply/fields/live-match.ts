import { stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { elementTree, type FieldTree, isItem, withoutFields } from './field-tree.ts';
import type { IgnoredTree } from './ignored-fields.ts';
import { isMap, listOf } from './json-fields.ts';
import { managedFieldsOf } from './projection.ts';
import { sameQuantity } from './quantity.ts';

/**
 * True where applying `desired` would change nothing: the live object has everything that it asks
 * for, and we own nothing in it that is no longer asked for. It errs on the side of false, which
 * costs one request. What is ignored may be anything.
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
 * True where `live` says everything that `desired` says. Lists must be as long and are compared by
 * index; empty values may be missing, and quantities may be written differently.
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

/** What Go's omitempty leaves out. */
function isZero(value: unknown): boolean {
  return value === '' || value === false || value === 0;
}

/** True where each field of a fieldsV1 set is found in `desired`, or ignored. */
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
