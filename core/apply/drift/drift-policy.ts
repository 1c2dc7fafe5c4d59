import { fieldAt } from '../../../api/json-fields.ts';
import { knownGroups } from '../../../api/kubernetes-kinds.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { DriftedObject } from '../../contracts/applier.ts';
import { fieldPath, withoutFields } from '../fields/field-tree.ts';
import { lostEmptyFields } from '../fields/live-match.ts';
import { missingFields } from '../fields/missing-fields.ts';
import { managedFieldsOf } from '../fields/projection.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { DesiredObject, PlannedObject } from '../objects/desired.ts';
import { objectPath } from '../objects/object-id.ts';
import { recordOf, recordWithout } from '../state/applied-record.ts';
import type { OwnerState } from '../state/owner-state.ts';
import { anyState, type DriftDetector, driftState } from './drift.ts';

/** A plan without the drift that is reported only. */
interface SplitPlan {
  readonly pending: readonly PlannedObject[];
  /** Objects that others changed or deleted; empty in mode Correct. */
  readonly drifted: readonly PlannedObject[];
}

/**
 * Takes repairs out of a plan unless spec.drift.mode is Correct. `unchanged` means that the same
 * content was applied before, by this process or an earlier one: every difference is then drift,
 * except pods that wait for a restart after a certificate rotation.
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
 * Marks drift that is not corrected as accepted, so that only its next change is reported. Returns
 * all drift in mode Warn, and nothing in mode Off.
 */
export function noteDrift(
  { owner, state }: { readonly owner: BundleDeployment; readonly state: OwnerState },
  { inventory, drift }: { readonly inventory: Inventory; readonly drift: DriftDetector },
  drifted: readonly PlannedObject[],
): readonly DriftedObject[] | undefined {
  const { name } = state;
  for (const record of state.records) record.accepted = undefined;
  const mode = driftMode(owner);
  // Core sends no request for drifted objects, so it claims them here: otherwise another deployment
  // could take them.
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
    const record = same
      ? recordOf(desired, own, name)
      : { ...recordWithout(desired, name), accepted };
    state.setRecord(record);
    drift.health(record);
    if (difference !== undefined && mode === 'Warn') told.push(difference);
  }
  return told.length > 0 ? told : undefined;
}

function ownEntry(entry: InventoryEntry | undefined, owner: string): InventoryEntry | undefined {
  return entry?.owner === owner && !entry.deleted ? entry : undefined;
}

/** The fields that differ from the bundle; undefined when none does, no matter who wrote them. */
function differenceOf(
  { resource, key, object, ignored }: DesiredObject,
  entry: InventoryEntry | undefined,
): DriftedObject | undefined {
  const path = objectPath(resource.kind, key);
  if (entry === undefined) return { object: path, missing: true, fields: [] };
  const missing = missingFields(withoutFields(object, ignored?.tree), entry.object);
  const fields = [...missing, ...lostIn(entry, { object, ignored }, missing)];
  return fields.length === 0 ? undefined : { object: path, missing: false, fields };
}

/**
 * Fields with an empty value that others have removed. Of its own kinds the API server omits such
 * values itself; for a custom resource, `enabled: false` is another wish than none.
 */
function lostIn(
  { resource, object: live }: InventoryEntry,
  { object, ignored }: Pick<DesiredObject, 'object' | 'ignored'>,
  missing: readonly string[],
): readonly string[] {
  if (knownGroups.some(({ group }) => group === resource.group)) return [];
  const lost = lostEmptyFields(object, live, ignored);
  return lost.filter((field) => !missing.some((above) => field.startsWith(above)));
}

export function driftMode({ spec }: BundleDeployment): 'Correct' | 'Warn' | 'Off' {
  return spec.drift?.mode ?? 'Correct';
}

const hashPath = fieldPath('spec.template.metadata.annotations', annotation.certificateHash);
const ownedHash = ['spec', 'template', 'metadata', 'annotations', annotation.certificateHash].map(
  (key) => `f:${key}`,
);

/**
 * True for pods that wait for a restart after a certificate rotation which an earlier process
 * began. Only core sets the annotation that differs, so this is not drift, and only core can finish
 * it.
 */
function isUnfinishedRoll({ desired, live }: PlannedObject): boolean {
  if (live === undefined) return false;
  if (fieldAt(managedFieldsOf(live), ...ownedHash) === undefined) return false;
  const differing = missingFields(withoutFields(desired.object, desired.ignored?.tree), live);
  return differing.length === 1 && differing[0] === hashPath;
}
