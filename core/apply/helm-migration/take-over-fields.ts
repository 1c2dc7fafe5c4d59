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
  /** As for `formerEntries`. */
  readonly returned: boolean;
}

/**
 * Makes the fields that RukPak wrote ours; changes nothing else of the object. Whoever writes the
 * object meanwhile is not overwritten.
 * @throws ApiError where the server refuses, or somebody else is quicker each time.
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
      // One that was deleted meanwhile is made anew by the apply.
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}

async function takeOnce(
  client: KubeClient,
  { resource, key, returned }: FieldsToTake,
  signal: AbortSignal,
): Promise<void> {
  // What the watches keep has lost the fields of others.
  const live = await client.get(resource, key, signal);
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
