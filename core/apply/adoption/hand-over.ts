import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldManager } from '../fields/field-manager.ts';
import { isFormerEntry } from '../fields/former-fields.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../fields/json-fields.ts';
import { isOwnEntry } from '../fields/projection.ts';

/**
 * Who has Helm's marks from then on. They stay, for Helm and for the way back to RukPak; what nobody
 * has would go with the last label or annotation that we take out.
 */
const marksManager = 'helm-marks';

const marks: JsonObject = {
  'f:metadata': {
    'f:labels': { 'f:app.kubernetes.io/managed-by': {} },
    'f:annotations': { 'f:meta.helm.sh/release-name': {}, 'f:meta.helm.sh/release-namespace': {} },
  },
};

/**
 * The object's managedFields with everything that RukPak wrote as ours, so that the next apply takes
 * out what is no longer asked for. Undefined where nothing is RukPak's.
 */
export function handedOver(live: KubernetesObject): readonly unknown[] | undefined {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  const former = entries.filter(isFormerEntry).toSorted(byTime);
  const newest = former.at(-1);
  if (newest === undefined) return undefined;
  const own = entries.find(isOwnEntry);
  const kept = entries.find(isMarksEntry);
  const fields = former.map(fieldsOf).reduce(union, {});
  const taken = {
    ...mapOf(own ?? newest),
    manager: fieldManager,
    operation: 'Apply',
    fieldsV1: union(fieldsOf(own), difference(fields, marks)),
  };
  const left = {
    ...mapOf(newest),
    manager: marksManager,
    fieldsV1: union(fieldsOf(kept), intersection(fields, marks)),
  };
  const others = entries.filter(
    (entry) => !former.includes(entry) && entry !== own && entry !== kept,
  );
  return [taken, ...(Object.keys(left.fieldsV1).length === 0 ? [] : [left]), ...others];
}

function isMarksEntry(entry: unknown): boolean {
  return stringAt(entry, 'manager') === marksManager;
}

function byTime(a: unknown, b: unknown): number {
  return (stringAt(a, 'time') ?? '').localeCompare(stringAt(b, 'time') ?? '');
}

/** What an entry lists, as fieldsV1 has it: a tree whose leaves are empty maps. */
function fieldsOf(entry: unknown): JsonObject {
  return mapOf(fieldAt(entry, 'fieldsV1'));
}

function union(a: JsonObject, b: JsonObject): JsonObject {
  const merged = Object.entries(b).map(([path, fields]) => {
    const known = a[path];
    return [path, isMap(known) && isMap(fields) ? union(known, fields) : fields];
  });
  return { ...a, ...Object.fromEntries(merged) };
}

function difference(a: JsonObject, b: JsonObject): JsonObject {
  return filtered(a, (path, fields) => {
    const without = b[path];
    if (!isMap(without)) return fields;
    return isLeaf(without) ? undefined : difference(fields, without);
  });
}

function intersection(a: JsonObject, b: JsonObject): JsonObject {
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

function isLeaf(fields: JsonObject): boolean {
  return Object.keys(fields).length === 0;
}
