import type { JsonObject } from '../../../api/json.ts';
import { fieldAt, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  isConflict,
  isNotFound,
  type KubeClient,
  type ObjectKey,
  type Resource,
} from '../../platform/kube/index.ts';
import {
  difference,
  fieldManager,
  fieldsOf,
  formerEntries,
  intersection,
  isLeaf,
  isOwnEntry,
  union,
} from '../fields/managed-fields.ts';

const attempts = 5;

interface FieldsToTake {
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** UID of the object that core has judged. */
  readonly uid: string | undefined;
  /** As in `formerEntries`. */
  readonly returned: boolean;
}

/**
 * Makes core the manager of the fields that RukPak wrote; changes nothing else. Retries when others
 * write the object meanwhile, and never overwrites them. Does nothing when the object was recreated:
 * the apply with this UID is refused then, and the new object judged.
 * @throws ApiError when the server refuses, or when every attempt meets a conflict.
 */
export async function takeOverFields(
  client: KubeClient,
  target: FieldsToTake,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await takeOnce(client, target, signal);
      return;
    } catch (error) {
      // The apply creates an object that was deleted meanwhile.
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

async function takeOnce(
  client: KubeClient,
  { resource, key, uid, returned }: FieldsToTake,
  signal: AbortSignal,
): Promise<void> {
  // The watch cache does not keep the fields of other managers.
  const live = await client.get(resource, key, signal);
  if (uid !== undefined && live.metadata.uid !== uid) return;
  const managedFields = takenOverFields(live, returned);
  if (managedFields === undefined) return;
  const { resourceVersion } = live.metadata;
  const patch = [
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ];
  await client.patch({ resource, key }, patch, { type: 'json', signal });
}

/**
 * Field manager of Helm's labels and annotations after the migration. It keeps them for Helm and
 * for a return to RukPak; without a manager they would go with the last label or annotation that
 * core removes.
 */
const marksManager = 'helm-marks';

const marks: JsonObject = {
  'f:metadata': {
    'f:labels': { 'f:app.kubernetes.io/managed-by': {} },
    'f:annotations': { 'f:meta.helm.sh/release-name': {}, 'f:meta.helm.sh/release-namespace': {} },
  },
};

/**
 * The object's managedFields with RukPak's fields as core's, so that the next apply removes those
 * that the bundle no longer contains. Undefined when RukPak owns none. For `returned` see
 * `formerEntries`.
 */
export function takenOverFields(
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
