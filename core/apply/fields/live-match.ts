import { isMap, listOf, mapOf } from '../../../api/json-fields.ts';
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
import { isLeaf } from './managed-fields.ts';
import { managedFieldsOf } from './projection.ts';
import { isSubset, isTyped } from './subset.ts';

/**
 * True when applying `desired` would change nothing: the live object has every desired field, core
 * owns the empty ones that it lacks, and no field that is not desired. When in doubt it returns
 * false, which costs one request. Ignored fields may have any value.
 */
export function isApplied(
  desired: KubernetesObject,
  live: KubernetesObject,
  ignored?: IgnoredTree,
): boolean {
  const owned = managedFieldsOf(live);
  if (owned === undefined || isLeaf(owned)) return false;
  const asked = withoutFields(desired, ignored?.tree);
  return (
    isSubset(asked, live) &&
    lostEmpty(asked, { path: '', live, owned, typed: isTyped(desired) }).length === 0 &&
    ownsNothingElse(owned, desired, ignored?.tree)
  );
}

/** Core owns a list or map as a whole, whatever fields are in it. */
const atomic = 'atomic';

interface LivePlace {
  readonly path: string;
  readonly live: unknown;
  /** Core's fields in fieldsV1; undefined when core owns nothing here. */
  readonly owned: unknown;
  readonly typed: boolean;
}

/**
 * Paths of empty values that `live` lacks and core does not own: core has not applied them, as
 * `enabled: false` of a later version, or others have removed them. The API server may have omitted
 * what core owns. Of values in an atomic list only the kind tells.
 */
export function lostEmptyFields(
  desired: KubernetesObject,
  live: KubernetesObject,
  ignored?: IgnoredTree,
): readonly string[] {
  const owned = managedFieldsOf(live);
  if (owned === undefined) return [];
  const asked = withoutFields(desired, ignored?.tree);
  return lostEmpty(asked, { path: '', live, owned, typed: isTyped(desired) });
}

function lostEmpty(desired: unknown, place: LivePlace): readonly string[] {
  const { path, live, owned, typed } = place;
  // Few objects omit anything, and a look for the owner of an item takes long.
  if (omitsNothing(desired, live)) return [];
  if (isMap(desired) && !isLeaf(desired)) {
    return Object.entries(desired).flatMap(([key, value]) =>
      lostEmpty(value, {
        path: fieldPath(path, key),
        live: valueAt(live, key),
        owned: ownedBelow(owned, `f:${key}`),
        typed,
      }),
    );
  }
  if (Array.isArray(desired) && desired.length > 0) {
    return desired.flatMap((item, index) =>
      lostEmpty(item, {
        path: itemPath(path, index),
        live: listOf(live)[index],
        owned: ownedBelow(owned, elementOf(owned, item)),
        typed,
      }),
    );
  }
  const isOwned = owned === atomic ? typed : owned !== undefined;
  return isOwned ? [] : [path];
}

function omitsNothing(desired: unknown, live: unknown): boolean {
  if (desired === undefined || desired === null) return true;
  if (live === undefined || live === null) return false;
  if (isMap(desired)) {
    return Object.keys(desired).every((key) => omitsNothing(desired[key], valueAt(live, key)));
  }
  if (!Array.isArray(desired)) return true;
  return desired.every((item, index) => omitsNothing(item, listOf(live)[index]));
}

function valueAt(live: unknown, key: string): unknown {
  return isMap(live) && Object.hasOwn(live, key) ? live[key] : undefined;
}

function ownedBelow(owned: unknown, element: string): unknown {
  return owned === atomic || isLeaf(owned) ? atomic : mapOf(owned)[element];
}

function elementOf(owned: unknown, item: unknown): string {
  return Object.keys(mapOf(owned)).find((each) => isItem(item, each)) ?? '';
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
