import { type JsonObject, parseJson } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldPath, itemPath } from './field-tree.ts';

/** The field manager of everything that the engine applies. */
export const fieldManager = 'rukpak-core';

/** True for the entry of managedFields that says what core applies. */
export function isOwnEntry(entry: unknown): boolean {
  return (
    isMap(entry) &&
    entry['manager'] === fieldManager &&
    entry['operation'] === 'Apply' &&
    (entry['subresource'] ?? '') === ''
  );
}

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
export function isLeaf(fields: unknown): boolean {
  return isMap(fields) && Object.keys(fields).length === 0;
}

/**
 * The names under which RukPak v0.16 wrote objects: Helm's client signs with the name of its program,
 * and `rukpakctl alpha bootstrap` wrote what `core` took over.
 */
const formerManagers: ReadonlySet<unknown> = new Set(['core', 'helm', 'rukpakctl']);

/** What RukPak repaired it signed as every Go program does that does not name itself. */
const unnamedProgram = 'Go-http-client';

/** True for an entry of managedFields that RukPak alone can have written. */
export function isFormerEntry(entry: unknown): boolean {
  return isUpdate(entry) && formerManagers.has(entry['manager']);
}

/**
 * The entries of managedFields that say what RukPak wrote. An unnamed program is RukPak where it has
 * the object: as long as core never applied it, or `returned` to RukPak since. Later it is
 * somebody else's program, whose fields are not ours to take.
 */
export function formerEntries(live: KubernetesObject, returned = false): readonly unknown[] {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  const isRukpaks = returned || !entries.some(isOwnEntry);
  return entries.filter(
    (entry) =>
      isFormerEntry(entry) || (isRukpaks && isUpdate(entry) && entry['manager'] === unnamedProgram),
  );
}

/** True where fields of the object still belong to RukPak: applying would not take one out. */
export function hasFormerFields(live: KubernetesObject, returned = false): boolean {
  return formerEntries(live, returned).length > 0;
}

function isUpdate(entry: unknown): entry is JsonObject {
  return isMap(entry) && entry['operation'] === 'Update' && (entry['subresource'] ?? '') === '';
}

/** Somebody else who has set fields of an object. */
interface OtherManager {
  readonly name: string;
  /** RFC 3339; when it last changed what it has. */
  readonly time: string | undefined;
}

/** Those whose fields an apply may take, the latest first. Status is nobody's quarrel. */
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

/** True for an entry of managedFields that says what somebody else has set. */
export function isOtherEntry(entry: unknown): boolean {
  return (
    stringAt(entry, 'manager') !== fieldManager &&
    stringAt(entry, 'subresource') !== 'status' &&
    !isFormerEntry(entry)
  );
}

/** The entry without its fields: they are most of many objects. */
export function withoutEntryFields(entry: unknown): object {
  return { ...mapOf(entry), fieldsV1: undefined };
}

/**
 * Paths of the fields that one set of managed fields has and another one has not, the smallest that
 * a set names. An item that is missing as a whole is one path.
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
