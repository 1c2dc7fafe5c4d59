import type { JsonObject } from '../../../api/json.ts';
import { elementTree, type FieldTree, isItem, withoutFields } from './field-tree.ts';
import { isMap, listOf, mapOf } from './json-fields.ts';

/**
 * The part of a set of managed fields that the tree does not ignore. A list or map with one owner is
 * in the set as a whole, or not at all once anybody changed an ignored field of it: so its value
 * without the ignored fields takes its place.
 */
export function ownedWithout(owned: unknown, tree: FieldTree, live: unknown): JsonObject {
  const elements = new Set([...Object.keys(mapOf(owned)), ...ignoredElements(tree)]);
  const entries = [...elements].flatMap((element): [string, unknown][] => {
    const below = elementTree(tree, element);
    const fields = mapOf(owned)[element];
    if (below === undefined) return [[element, fields]];
    if (below.whole) return [];
    const value = liveBelow(live, element);
    const whole = isLeaf(fields) || (fields === undefined && below.items !== undefined);
    if (whole) return [[element, { value: withoutFields(value, below) }]];
    const kept = ownedWithout(fields, below, value);
    return Object.keys(kept).every((key) => key === '.') ? [] : [[element, kept]];
  });
  return Object.fromEntries(entries) as JsonObject;
}

function ignoredElements({ children, items }: FieldTree): readonly string[] {
  if (items !== undefined) return [];
  return [...children.keys()].filter((key) => key !== '*').map((key) => `f:${key}`);
}

function liveBelow(live: unknown, element: string): unknown {
  if (element.startsWith('f:')) return mapOf(live)[element.slice(2)];
  return listOf(live).find((item) => isItem(item, element));
}

/** True for what fieldsV1 has where all of a field belongs to it. */
export function isLeaf(owned: unknown): boolean {
  return isMap(owned) && Object.keys(owned).length === 0;
}
