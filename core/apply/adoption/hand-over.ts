import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../json-fields.ts';
import { fieldManager, isOwnEntry } from '../projection.ts';
import { isFormerEntry } from './former-fields.ts';

/** The maps that hold Helm's marks, and those: Helm and the way back to RukPak read them. */
const marks: Readonly<Record<string, readonly string[]>> = {
  'f:labels': ['f:app.kubernetes.io/managed-by'],
  'f:annotations': ['f:meta.helm.sh/release-name', 'f:meta.helm.sh/release-namespace'],
};

/**
 * The object's managedFields with everything that RukPak wrote as ours, so that the next apply takes
 * out what is no longer asked for. Helm's marks become nobody's: they stay. Undefined where nothing
 * is RukPak's.
 */
export function handedOver(live: KubernetesObject): readonly unknown[] | undefined {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  const former = entries.filter(isFormerEntry).toSorted(byTime);
  const newest = former.at(-1);
  if (newest === undefined) return undefined;
  const own = entries.find(isOwnEntry);
  const fields = former.map((entry) => withoutMarks(mapOf(fieldAt(entry, 'fieldsV1'))));
  const entry = {
    ...mapOf(own ?? newest),
    manager: fieldManager,
    operation: 'Apply',
    fieldsV1: fields.reduce(union, mapOf(fieldAt(own, 'fieldsV1'))),
  };
  return [entry, ...entries.filter((each) => !isFormerEntry(each) && !isOwnEntry(each))];
}

function byTime(a: unknown, b: unknown): number {
  return (stringAt(a, 'time') ?? '').localeCompare(stringAt(b, 'time') ?? '');
}

function union(a: JsonObject, b: JsonObject): JsonObject {
  const merged = Object.entries(b).map(([path, fields]) => {
    const known = a[path];
    return [path, isMap(known) && isMap(fields) ? union(known, fields) : fields];
  });
  return { ...a, ...Object.fromEntries(merged) };
}

function withoutMarks(fields: JsonObject): JsonObject {
  let metadata = mapOf(fields['f:metadata']);
  for (const [path, names] of Object.entries(marks)) {
    // Whoever owns the map itself takes it away with all that nobody owns.
    const kept = without(mapOf(metadata[path]), ['.', ...names]);
    metadata = withChild(metadata, path, kept);
  }
  return withChild(fields, 'f:metadata', metadata);
}

/** An empty child would stand for the field as a whole. */
function withChild(fields: JsonObject, path: string, child: JsonObject): JsonObject {
  return Object.keys(child).length === 0 ? without(fields, [path]) : { ...fields, [path]: child };
}

function without(fields: JsonObject, paths: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([path]) => !paths.includes(path)));
}
