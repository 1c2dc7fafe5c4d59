import type { JsonObject } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldManager, isOwnEntry } from '../fields/field-manager.ts';
import { difference, fieldsOf, intersection, isLeaf, union } from '../fields/fields-v1.ts';
import { formerEntries } from '../fields/former-fields.ts';
import { fieldAt, listOf, mapOf, stringAt } from '../fields/json-fields.ts';

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
 * out what is no longer asked for. Undefined where nothing is RukPak's. `returned`: see `formerEntries`.
 */
export function handedOver(
  live: KubernetesObject,
  returned = false,
): readonly unknown[] | undefined {
  const entries = listOf(fieldAt(live.metadata, 'managedFields'));
  const former = formerEntries(live, returned).toSorted(byTime);
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
  return [taken, ...(isLeaf(left.fieldsV1) ? [] : [left]), ...others];
}

function isMarksEntry(entry: unknown): boolean {
  return stringAt(entry, 'manager') === marksManager;
}

function byTime(a: unknown, b: unknown): number {
  return (stringAt(a, 'time') ?? '').localeCompare(stringAt(b, 'time') ?? '');
}
