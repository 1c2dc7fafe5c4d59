import type { KubernetesObject } from '../../../api/meta.ts';
import type { RepairBackoff } from '../drift/repair-backoff.ts';
import { isApplied } from '../fields/live-match.ts';
import type { AppliedRecord, AppliedRecords } from '../inventory/applied-records.ts';
import { type Inventory, type InventoryEntry, projectionUnder } from '../inventory/inventory.ts';
import type { DesiredObject } from '../objects/desired.ts';

/** One object that needs a request. */
export interface PlannedObject {
  readonly desired: DesiredObject;
  /** As the inventory knows it; undefined where it is missing, or not marked as anybody's. */
  readonly live: KubernetesObject | undefined;
  /** True where the same was applied before and somebody changed it since. */
  readonly repair: boolean;
  /** True where this process has not applied it: whether anybody changed it cannot be told. */
  readonly unrecorded?: boolean;
}

export interface ApplyPlan {
  readonly pending: readonly PlannedObject[];
  /** Objects that an earlier process applied and that still are as wanted. */
  readonly found: readonly AppliedRecord[];
}

export interface PlanContext {
  readonly owner: string;
  readonly records: AppliedRecords;
  readonly inventory: Inventory;
  readonly backoff: Pick<RepairBackoff, 'pause'>;
  readonly hasDrifted: (record: AppliedRecord) => boolean;
  /** Whether RukPak's fields in it are still to become ours. */
  readonly isLeft: (live: KubernetesObject) => boolean;
}

/** Decides without any request which objects have to be sent. */
export function planSet(desired: readonly DesiredObject[], context: PlanContext): ApplyPlan {
  const pending: PlannedObject[] = [];
  const found: AppliedRecord[] = [];
  for (const object of desired) {
    const record = context.records.get(object.id);
    const entry = context.inventory.get(object.resource, object.key);
    const repair = record !== undefined && isSame(record, object, context.owner);
    if (repair) {
      // While repairs are paused the object stays as it is.
      if (!context.hasDrifted(record) || context.backoff.pause(object.id) > 0) continue;
    } else if (record === undefined && entry !== undefined && isFound(object, entry, context)) {
      found.push(recordOf(object, entry));
      continue;
    }
    const unrecorded = isUnrecorded(record, entry, context);
    pending.push({ desired: object, live: entry?.object, repair, unrecorded });
  }
  return { pending, found };
}

/** The record of an object that now is as desired. */
export function recordOf(desired: DesiredObject, entry: InventoryEntry): AppliedRecord {
  const { id, resource, key, ignored, digest } = desired;
  const { owner } = entry;
  const projection = projectionUnder(entry, ignored);
  return { id, owner, resource, key, ignored, digest, projection, problem: undefined };
}

function isSame(record: AppliedRecord, desired: DesiredObject, owner: string): boolean {
  return (
    record.owner === owner &&
    record.digest === desired.digest &&
    record.resource.version === desired.resource.version
  );
}

function isUnrecorded(
  record: AppliedRecord | undefined,
  entry: InventoryEntry | undefined,
  { isLeft }: PlanContext,
): boolean {
  return record === undefined && !(entry !== undefined && isLeft(entry.object));
}

function isFound(desired: DesiredObject, entry: InventoryEntry, context: PlanContext): boolean {
  const { deleted, owner, object } = entry;
  if (deleted || owner !== context.owner || context.isLeft(object)) return false;
  return isApplied(desired.object, object, desired.ignored);
}
