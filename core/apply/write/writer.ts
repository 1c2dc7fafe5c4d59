import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import type { ApplyMetrics } from '../../platform/observe/index.ts';
import type { DriftDetector } from '../drift/drift.ts';
import type { FieldConflict } from '../fields/field-conflicts.ts';
import { otherManagers } from '../fields/managed-fields.ts';
import { managedFieldsOf } from '../fields/projection.ts';
import { takeOverFields } from '../helm-migration/take-over-fields.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { CheckedObject } from '../objects/desired.ts';
import { describeObject } from '../objects/object-id.ts';
import type { CoOwnership } from '../ownership/co-ownership.ts';
import { isRukpaks } from '../ownership/ownership.ts';
import { recordOf } from '../state/applied-record.ts';
import type { OwnerState } from '../state/owner-state.ts';
import { applyReplacing } from './apply-object.ts';
import type { ServerSideApply, ServerSideApplyRequest } from './server-side-apply.ts';

interface WriterOptions {
  readonly apply: ServerSideApply;
  readonly inventory: Inventory;
  readonly drift: DriftDetector;
  readonly coOwnership: CoOwnership;
  readonly events: EventSink;
  readonly metrics?: Pick<ApplyMetrics, 'repaired'>;
}

/** The part of a run that a write needs: owner, client, and whether the set was applied before. */
interface WriteContext {
  readonly owner: BundleDeployment;
  readonly state: OwnerState;
  readonly client: KubeClient;
  readonly unchanged: boolean;
  readonly signal: AbortSignal;
}

/** Writes single objects of a set and records the results. */
export class Writer {
  readonly #options: WriterOptions;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  /**
   * Applies one object; true when that changed anything in the cluster.
   * @throws ApiError; a conflict when a createOnly object exists.
   */
  async write(run: WriteContext, object: CheckedObject): Promise<boolean> {
    run.signal.throwIfAborted();
    const { drift } = this.#options;
    const { id } = object.desired;
    drift.begin(id);
    let succeeded = false;
    try {
      const changed = await this.#write(run, object);
      succeeded = true;
      return changed;
    } finally {
      drift.end(id, succeeded);
    }
  }

  async #write(run: WriteContext, object: CheckedObject): Promise<boolean> {
    const { apply, inventory, drift, coOwnership } = this.#options;
    const { desired, live, createOnly } = object;
    const { client, owner, signal } = run;
    if (object.dropControllers && live !== undefined) await dropControllers(run, object, live);
    // What was made in its place meanwhile is not judged yet.
    const uid = live?.metadata.uid;
    if (object.takeOver) {
      await takeOverFields(client, { ...desired, uid, returned: isRukpaks(owner) }, signal);
    }
    const onConflict = this.#conflictsOf(owner, object);
    const onReplaced = (before: KubernetesObject, conflicts: readonly FieldConflict[]) =>
      coOwnership.taken(owner, desired, { before, conflicts });
    const request = { client, owner, desired, createOnly, uid, onConflict, onReplaced, signal };
    const stored = await applyReplacing(apply, request);
    // Records the response as applied, even when the watch already knows a newer version.
    const entry = inventory.put(desired.resource, stored);
    const record = recordOf(desired, entry, run.state.name);
    run.state.setRecord(record);
    coOwnership.stored(owner, desired, stored);
    drift.health(record);
    this.#putBack(run, object, stored);
    if (object.repair) this.#repaired(run, object);
    if (object.adoptedFrom !== undefined) coOwnership.adopted(owner, object.adoptedFrom);
    return stored.metadata.resourceVersion !== live?.metadata.resourceVersion;
  }

  /** The receiver of conflicts, for an apply that is not a repair and may take fields of others. */
  #conflictsOf(
    owner: BundleDeployment,
    { desired, live, repair }: CheckedObject,
  ): ServerSideApplyRequest['onConflict'] {
    if (repair || live === undefined || otherManagers(live).length === 0) return undefined;
    // While core's own managedFields are in the live object, they show which fields an apply takes,
    // without a refusal.
    if (managedFieldsOf(live) !== undefined) return undefined;
    const { coOwnership } = this.#options;
    return (conflicts) => coOwnership.taken(owner, desired, { before: live, conflicts });
  }

  /** Also reverts what others changed while no process ran. */
  #putBack(
    { owner, unchanged }: WriteContext,
    { desired, live, repair, unrecorded }: CheckedObject,
    after: KubernetesObject,
  ): void {
    const isRestored = repair || (unchanged && unrecorded === true);
    if (live === undefined || !isRestored) return;
    this.#options.coOwnership.putBack(owner, desired, { before: live, after });
  }

  #repaired(
    { owner, state }: WriteContext,
    { desired: { id, resource, key } }: CheckedObject,
  ): void {
    const { events, metrics } = this.#options;
    metrics?.repaired();
    if (!state.repairs.repaired(id)) return;
    events.event(owner, {
      type: 'Warning',
      reason: 'RepairPaused',
      message:
        `Another client changes ${describeObject(resource.kind, key)} after each repair, so core waits up to 5 minutes ` +
        'between repairs. managedFields names the client (kubectl get --show-managed-fields): ' +
        'stop it, or add its fields to spec.drift.ignore',
    });
  }
}

/** Server-side apply cannot remove a reference that another manager added to the list. */
async function dropControllers(
  { client, signal }: WriteContext,
  { desired: { resource, key } }: CheckedObject,
  live: KubernetesObject,
): Promise<void> {
  const { uid, resourceVersion, ownerReferences = [] } = live.metadata;
  const kept = ownerReferences.filter((reference) => reference.controller !== true);
  const metadata = { uid, resourceVersion, ownerReferences: kept };
  await client.patch({ resource, key }, { metadata }, { type: 'merge', signal });
}
