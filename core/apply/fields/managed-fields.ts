import { type JsonObject, parseJson } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldPath, itemPath } from './field-tree.ts';

/** The field manager of everything that the engine applies. */
export const fieldManager = 'rukpak-core';

/** True for the entry of managedFields that lists the fields core applies. */
export function isOwnEntry(entry: unknown): boolean {
  return (
    isMap(entry) &&
    entry['manager'] === fieldManager &&
    entry['operation'] === 'Apply' &&
    (entry['subresource'] ?? '') === ''
  );
}

/** The fields of an entry in fieldsV1: a tree whose leaves are empty maps. */
export function fieldsOf(entry: unknown): JsonObject {
  return mapOf(fieldAt(entry, 'fieldsV1'));
}

/** Fields that are in at least one of the two sets. */
export function union(a: JsonObject, b: JsonObject): JsonObject {
  const merged = Object.entries(b).map(([path, fields]) => {
    const known = a[path];
    return [path, isMap(known) && isMap(fields) ? union(known, fields) : fields];
  });
  return { ...a, ...Object.fromEntries(merged) };
}

/**
 * Fields of the first set that are not in the second; a leaf of the second covers all fields below
 * it.
 */
export function difference(a: JsonObject, b: JsonObject): JsonObject {
  return filtered(a, (path, fields) => {
    const without = b[path];
    if (!isMap(without)) return fields;
    return isLeaf(without) ? undefined : difference(fields, without);
  });
}

/** Fields of the first set that are at or below the leaves of the second. */
export function intersection(a: JsonObject, b: JsonObject): JsonObject {
  return filtered(a, (path, fields) => {
    const common = b[path];
    if (!isMap(common)) return undefined;
    return isLeaf(common) ? fields : intersection(fields, common);
  });
}

/**
 * Replaces or drops children. Drops a child that becomes empty: an empty child would mean the whole
 * field.
 */
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

/** True for a whole field, and for an empty set. */
export function isLeaf(fields: unknown): boolean {
  return isMap(fields) && Object.keys(fields).length === 0;
}

/**
 * The field managers with which RukPak v0.16 wrote objects: Helm's client uses the name of its
 * program, and `rukpakctl alpha bootstrap` wrote objects that `core` later managed.
 */
const formerManagers: ReadonlySet<unknown> = new Set(['core', 'helm', 'rukpakctl']);

/** RukPak's repairs used the default field manager of a Go program. */
const unnamedProgram = 'Go-http-client';

/** True for an entry of managedFields that only RukPak can have written. */
export function isFormerEntry(entry: unknown): boolean {
  return isUpdate(entry) && formerManagers.has(entry['manager']);
}

/**
 * The entries of managedFields that RukPak wrote. The default manager `Go-http-client` is RukPak as
 * long as RukPak manages the object: until core first applies it, and again after it `returned` to
 * RukPak. Later it is another program, whose fields core must not take.
 */
export function formerEntries(live: KubernetesObject, returned = false): readonly unknown[] {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  const isRukpaks = returned || !entries.some(isOwnEntry);
  return entries.filter(
    (entry) =>
      isFormerEntry(entry) || (isRukpaks && isUpdate(entry) && entry['manager'] === unnamedProgram),
  );
}

/** True when RukPak's managers still own fields of the object: an apply could not remove these. */
export function hasFormerFields(live: KubernetesObject, returned = false): boolean {
  return formerEntries(live, returned).length > 0;
}

function isUpdate(entry: unknown): entry is JsonObject {
  return isMap(entry) && entry['operation'] === 'Update' && (entry['subresource'] ?? '') === '';
}

/** Another manager that has set fields of an object. */
interface OtherManager {
  readonly name: string;
  /** RFC 3339; when it last changed its fields. */
  readonly time: string | undefined;
}

/** Managers whose fields an apply may take, the latest first; managers of status do not count. */
export function otherManagers(live: KubernetesObject): readonly OtherManager[] {
  const former = formerEntries(live);
  return listOf(fieldAt(live.metadata, 'managedFields'))
    .filter((entry) => isOtherEntry(entry) && !former.includes(entry))
    .map((entry) => ({
      name: stringAt(entry, 'manager') ?? '',
      time: stringAt(entry, 'time'),
    }))
    .toSorted((a, b) => (b.time ?? '').localeCompare(a.time ?? ''));
}

/** True for an entry of managedFields that another manager has set, not core or RukPak. */
export function isOtherEntry(entry: unknown): boolean {
  return (
    stringAt(entry, 'manager') !== fieldManager &&
    stringAt(entry, 'subresource') !== 'status' &&
    !isFormerEntry(entry)
  );
}

/** The entry without its fields, which are most of the size of many objects. */
export function withoutEntryFields(entry: unknown): object {
  return { ...mapOf(entry), fieldsV1: undefined };
}

/**
 * Paths of the smallest fields that one set of managed fields has and the other lacks. A missing
 * item is one path.
 */
export function fieldsBeyond(fields: unknown, known: unknown, path = ''): readonly string[] {
  const elements = Object.keys(mapOf(fields)).filter((element) => element !== '.');
  return elements.flatMap((element) => {
    const [more, there] = [mapOf(fields)[element], mapOf(known)[element]];
    const at = elementPath(path, element);
    const isWhole = Object.keys(mapOf(more)).length === 0 || element.startsWith('k:');
    if (there === undefined && isWhole) return [at];
    return fieldsBeyond(more, there, at);
  });
}

function elementPath(parent: string, element: string): string {
  const operand = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return fieldPath(parent, operand);
    case 'k:': {
      const keys = parseJson(operand);
      return itemPath(parent, isMap(keys) ? keys : {});
    }
    case 'i:':
      return itemPath(parent, Number(operand));
    default:
      return `${parent}[${operand}]`;
  }
}
