import type { KubernetesObject } from '../../../api/meta.ts';
import { isApplied } from '../fields/live-match.ts';
import type { Inventory, InventoryEntry } from '../inventory/inventory.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { PlannedObject } from '../objects/planned.ts';
import type { AppliedRecord } from '../state/applied-record.ts';
import { recordOf, recordWithout } from '../state/applied-record.ts';
import type { OwnerState } from '../state/owner-state.ts';

export interface ApplyPlan {
  readonly pending: readonly PlannedObject[];
  /** Objects that an earlier process applied and that still are as wanted, or have ended. */
  readonly found: readonly AppliedRecord[];
}

export interface PlanContext {
  readonly state: OwnerState;
  readonly inventory: Inventory;
  /** Milliseconds until the repair of an object is due. */
  readonly pause: (id: string) => number;
  /** Whether it has ended by itself, and may be gone. */
  readonly isFinished: (desired: DesiredObject) => boolean;
  readonly hasDrifted: (record: AppliedRecord) => boolean;
  /** Whether RukPak's fields in it are still to become ours. */
  readonly isLeft: (live: KubernetesObject) => boolean;
}

/** Decides without any request which objects have to be sent. */
export function planSet(desired: readonly DesiredObject[], context: PlanContext): ApplyPlan {
  const pending: PlannedObject[] = [];
  const found: AppliedRecord[] = [];
  for (const object of desired) {
    const record = context.state.recordOf(object.id);
    const entry = context.inventory.get(object.resource, object.key);
    const repair = record !== undefined && isSame(record, object, context.state.name);
    if (repair && isToBeLeft(record, context)) continue;
    const standing = repair ? undefined : standingRecord({ object, record, entry }, context);
    if (standing !== undefined) {
      found.push(standing);
      continue;
    }
    const unrecorded = isUnrecorded(record, entry, context);
    pending.push({ desired: object, live: entry?.object, repair, unrecorded });
  }
  return { pending, found };
}

/** While repairs are paused the object stays as it is. */
function isToBeLeft(record: AppliedRecord, { hasDrifted, pause }: PlanContext): boolean {
  return !hasDrifted(record) || pause(record.id) > 0;
}

interface Known {
  readonly object: DesiredObject;
  readonly record: AppliedRecord | undefined;
  readonly entry: InventoryEntry | undefined;
}

/** The record of an object that needs no request: it has ended and is gone, or is as an earlier process left it. */
function standingRecord(
  { object, record, entry }: Known,
  context: PlanContext,
): AppliedRecord | undefined {
  if (entry === undefined) {
    return context.isFinished(object) ? recordWithout(object, context.state.name) : undefined;
  }
  const isUnknown = record === undefined && isFound(object, entry, context);
  return isUnknown ? { ...recordOf(object, entry), found: true } : undefined;
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
  if (deleted || owner !== context.state.name || context.isLeft(object)) return false;
  return isApplied(desired.object, object, desired.ignored);
}
