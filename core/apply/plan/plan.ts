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
  /** Objects that core creates at their event: not in the set. */
  readonly hooks: readonly DesiredObject[];
  /**
   * Kinds of which an earlier set of this owner, applied by core or RukPak, may have left objects.
   */
  readonly earlier: readonly GroupKind[];
  /** Start each stage only when the one before is healthy. */
  readonly waitForReady: boolean;
  /** Apply only the namespaces and CRDs that hooks need. */
  readonly foundationOnly: boolean;
  /** The same content was completely applied before. */
  readonly unchanged: boolean;
  /** As in `ApplyRequest`. */
  readonly standsIn: boolean;
  readonly deletionsAsked?: boolean;
  readonly changedFacts?: string | undefined;
  readonly askedBefore?: readonly string[] | undefined;
  readonly begin?: ApplyRequest['begin'];
  /** The Bundle of the set, and its objects that have ended by themselves. */
  readonly origin: Pick<ApplyRequest, 'bundle' | 'finished'>;
  readonly signal: AbortSignal;
}

/** The kinds of all objects that a run may create, as the ApplySet lists them. */
export function kindsOf({ set, hooks }: Run): readonly GroupKind[] {
  return [...set.resources, ...hooks.map(({ resource }) => resource)];
}

export interface ApplyPlan {
  readonly pending: readonly PlannedObject[];
  /** Objects that an earlier process applied and that are still as desired, or have ended. */
  readonly found: readonly AppliedRecord[];
}

interface PlanContext {
  readonly state: OwnerState;
  readonly inventory: Inventory;
  /** Milliseconds until the repair of an object is due. */
  readonly pause: (id: string) => number;
  /** Whether the object has ended by itself, and may be absent. */
  readonly isFinished: (desired: DesiredObject) => boolean;
  readonly hasDrifted: (record: AppliedRecord) => boolean;
  /** Whether RukPak still owns fields of the object. */
  readonly isLeft: (live: KubernetesObject) => boolean;
}

/** Decides without requests which objects core must send. */
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

/** While its repairs are paused, the object stays as it is. */
function isToBeLeft(record: AppliedRecord, { hasDrifted, pause }: PlanContext): boolean {
  return !hasDrifted(record) || pause(record.id) > 0;
}

interface Known {
  readonly object: DesiredObject;
  readonly record: AppliedRecord | undefined;
  readonly entry: InventoryEntry | undefined;
}

/**
 * The record of an object that needs no request: it has ended and is absent, or is as an earlier
 * process applied it.
 */
function standingRecord(
  { object, record, entry }: Known,
  context: PlanContext,
): AppliedRecord | undefined {
  if (entry === undefined) {
    return context.isFinished(object) ? recordWithout(object, context.state.name) : undefined;
  }
  const isUnknown = record === undefined && isFound(object, entry, context);
  return isUnknown ? { ...recordOf(object, entry, context.state.name), found: true } : undefined;
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
