import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { ApplyRequest } from '../../contracts/applier.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import { isApplied } from '../fields/live-match.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { DesiredObject, PlannedObject } from '../objects/desired.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { type AppliedRecord, recordOf, recordWithout } from '../state/applied-record.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { DesiredSet } from './desired-set.ts';

/** One apply of one owner's set. */
export interface Run {
  readonly owner: BundleDeployment;
  /** The owner's name. */
  readonly name: string;
  readonly state: OwnerState;
  /** Reads and writes the owner's objects, with the permissions that the owner has. */
  readonly client: KubeClient;
  readonly operation: 'install' | 'upgrade';
  readonly set: DesiredSet;
  /** What is created when its time comes: no part of the set. */
  readonly hooks: readonly DesiredObject[];
  /** Kinds that an earlier set of this owner may have left objects of: ours, or RukPak's. */
  readonly earlier: readonly GroupKind[];
  /** Each stage begins only when the one before is healthy. */
  readonly waitForReady: boolean;
  /** Only what must be there before hooks. */
  readonly foundationOnly: boolean;
  /** The same content was applied completely before. */
  readonly unchanged: boolean;
  /** As in `ApplyRequest`. */
  readonly deletionsAsked?: boolean;
  readonly changedFacts?: string | undefined;
  /** The Bundle that the set is of, and what of it has ended by itself. */
  readonly origin: Pick<ApplyRequest, 'bundle' | 'finished'>;
  readonly signal: AbortSignal;
}

/** The kinds of all that a run may create, whose objects the ApplySet may have. */
export function kindsOf({ set, hooks }: Run): readonly GroupKind[] {
  return [...set.resources, ...hooks.map(({ resource }) => resource)];
}

export interface ApplyPlan {
  readonly pending: readonly PlannedObject[];
  /** Objects that an earlier process applied and that still are as wanted, or have ended. */
  readonly found: readonly AppliedRecord[];
}

interface PlanContext {
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
