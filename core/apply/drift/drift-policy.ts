import { fieldAt } from '../../../api/json-fields.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { DriftedObject } from '../../contracts/applier.ts';
import { fieldPath, withoutFields } from '../fields/field-tree.ts';
import { missingFields } from '../fields/live-match.ts';
import { managedFieldsOf } from '../fields/projection.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { DesiredObject, PlannedObject } from '../objects/desired.ts';
import { objectPath } from '../objects/object-id.ts';
import { recordOf, recordWithout } from '../state/applied-record.ts';
import type { OwnerState } from '../state/owner-state.ts';
import { anyState, type DriftDetector, driftState } from './drift.ts';

/** What of a plan is done, and what is only told of. */
interface SplitPlan {
  readonly pending: readonly PlannedObject[];
  /** Objects that others changed or deleted; never any where drift is corrected. */
  readonly drifted: readonly PlannedObject[];
}

/**
 * Takes repairs out of a plan where spec.drift.mode does not ask for them. `unchanged` says that the
 * same content was applied before: what differs then was changed by others, whether or not this
 * process has seen it applied, but for pods that a rotation of certificates has yet to roll.
 */
export function splitPlan(
  owner: BundleDeployment,
  planned: readonly PlannedObject[],
  unchanged: boolean,
): SplitPlan {
  if (driftMode(owner) === 'Correct') return { pending: planned, drifted: [] };
  const isDrift = (object: PlannedObject): boolean =>
    object.repair || (unchanged && object.unrecorded === true && !isUnfinishedRoll(object));
  return {
    pending: planned.filter((object) => !isDrift(object)),
    drifted: planned.filter(isDrift),
  };
}

/**
 * Keeps the drift that is not corrected from being news again, and says what there is to tell: all
 * of it in mode Warn, nothing in mode Off.
 */
export function noteDrift(
  { owner, state }: { readonly owner: BundleDeployment; readonly state: OwnerState },
  { inventory, drift }: { readonly inventory: Inventory; readonly drift: DriftDetector },
  drifted: readonly PlannedObject[],
): readonly DriftedObject[] | undefined {
  const { name } = state;
  for (const record of state.records) record.accepted = undefined;
  const mode = driftMode(owner);
  // Nothing is sent for them, which would claim them: another deployment could take them.
  const own = drifted.filter(({ desired: { resource, key } }) =>
    ownEntry(inventory.get(resource, key), name),
  );
  state.seize(own.map(({ desired: { id } }) => id));
  const told: DriftedObject[] = [];
  for (const { desired } of drifted) {
    const entry = inventory.get(desired.resource, desired.key);
    const own = ownEntry(entry, name);
    const difference = differenceOf(desired, own);
    const accepted = mode === 'Off' ? anyState : driftState(entry);
    const same = difference === undefined && own !== undefined;
    const record = same ? recordOf(desired, own) : { ...recordWithout(desired, name), accepted };
    state.setRecord(record);
    drift.health(record);
    if (difference !== undefined && mode === 'Warn') told.push(difference);
  }
  return told.length > 0 ? told : undefined;
}

function ownEntry(entry: InventoryEntry | undefined, owner: string): InventoryEntry | undefined {
  return entry?.owner === owner && !entry.deleted ? entry : undefined;
}

/** Undefined where everything is as the bundle has it, whoever wrote it. */
function differenceOf(
  { resource, key, object, ignored }: DesiredObject,
  entry: InventoryEntry | undefined,
): DriftedObject | undefined {
  const path = objectPath(resource.kind, key);
  if (entry === undefined) return { object: path, missing: true, fields: [] };
  const fields = missingFields(withoutFields(object, ignored?.tree), entry.object);
  return fields.length === 0 ? undefined : { object: path, missing: false, fields };
}

export function driftMode({ spec }: BundleDeployment): 'Correct' | 'Warn' | 'Off' {
  return spec.drift?.mode ?? 'Correct';
}

const hashPath = fieldPath('spec.template.metadata.annotations', annotation.certificateHash);
const ownedHash = ['spec', 'template', 'metadata', 'annotations', annotation.certificateHash].map(
  (key) => `f:${key}`,
);

/**
 * True for pods that are still to be rolled for a certificate that was written before the process
 * ended: nothing but the note of it differs, and nobody else has set that. No drift, then: nobody
 * but the engine would ever bring it to an end.
 */
function isUnfinishedRoll({ desired, live }: PlannedObject): boolean {
  if (live === undefined) return false;
  if (fieldAt(managedFieldsOf(live), ...ownedHash) === undefined) return false;
  const differing = missingFields(withoutFields(desired.object, desired.ignored?.tree), live);
  return differing.length === 1 && differing[0] === hashPath;
}
