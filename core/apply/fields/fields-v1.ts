import type { JsonObject } from '../../../api/json.ts';
import { fieldAt, isMap, mapOf } from './json-fields.ts';

/** What an entry lists, as fieldsV1 has it: a tree whose leaves are empty maps. */
export function fieldsOf(entry: unknown): JsonObject {
  return mapOf(fieldAt(entry, 'fieldsV1'));
}

/** What is in any of the two. */
export function union(a: JsonObject, b: JsonObject): JsonObject {
  const merged = Object.entries(b).map(([path, fields]) => {
    const known = a[path];
    return [path, isMap(known) && isMap(fields) ? union(known, fields) : fields];
  });
  return { ...a, ...Object.fromEntries(merged) };
}

/** What is in the first and not in the second, whose leaves stand for all below them. */
export function difference(a: JsonObject, b: JsonObject): JsonObject {
  return filtered(a, (path, fields) => {
    const without = b[path];
    if (!isMap(without)) return fields;
    return isLeaf(without) ? undefined : difference(fields, without);
  });
}

/** What of the first is at or below the leaves of the second. */
export function intersection(a: JsonObject, b: JsonObject): JsonObject {
  return filtered(a, (path, fields) => {
    const common = b[path];
    if (!isMap(common)) return undefined;
    return isLeaf(common) ? fields : intersection(fields, common);
  });
}

/** Replaces or drops children. One that becomes empty goes: it would stand for the field as a whole. */
function filtered(
  fields: JsonObject,
  replace: (path: string, child: JsonObject) => JsonObject | undefined,
): JsonObject {
  const kept = Object.entries(fields).flatMap(([path, child]) => {
    const before = mapOf(child);
    const after = replace(path, before);
    return after === undefined || (isLeaf(after) && !isLeaf(before)) ? [] : [[path, after]];
  });
  return Object.fromEntries(kept);
}

/** True for a field as a whole, and for no fields at all. */
export function isLeaf(fields: JsonObject): boolean {
  return Object.keys(fields).length === 0;
}
