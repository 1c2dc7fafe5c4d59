import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { DeletionPolicy, PrunePolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { ApplyResult } from '../../contracts/applier.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Discovery, KubeClient, NamespacedKinds } from '../../platform/kube/index.ts';
import type { DriftDetector } from '../drift/drift.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { EarlierKinds } from '../kinds/earlier-kinds.ts';
import { isKept } from '../objects/desired.ts';
import { type ApplyFailure, throwAny } from '../objects/failures.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { belongsTo, controllerOf } from '../objects/owner-marks.ts';
import { otherUsers } from '../ownership/shared-namespaces.ts';
import type { Transfers } from '../ownership/transfers.ts';
import { isOrphanDenied } from '../privilege/removal-denial.ts';
import type { OwnerState, OwnerStates } from '../state/owner-state.ts';
import { type Deletions, objectEvents } from '../write/deletions.ts';
import { type AskedBefore, askedIn } from './asked-deletions.ts';
import { orphanDefinitions } from './kept-definitions.ts';
import {
  type NamespacePlan,
  type NamespaceQuery,
  orphanNamespaces,
  throwUndecided,
} from './namespaces.ts';
import { orphanObject } from './orphan.ts';
import { guardPrune, timePrune } from './prune-guard.ts';
import { planRemoval, type RemovalPlan, type Wanted } from './prune-plan.ts';

interface PrunerOptions {
  readonly client: KubeClient;
  readonly discovery: Discovery & NamespacedKinds;
  readonly events: EventSink;
  /** Values of the fields that a deployment's spec.prune omits (default: no confirmation needed). */
  readonly pruneDefaults?: PrunePolicy | undefined;
  /** Deletion policy of deployments without a spec.deletionPolicy (default: Delete). */
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  readonly owners: OwnerStates;
  readonly inventory: Inventory;
  readonly drift: DriftDetector;
  readonly earlierKinds: EarlierKinds;
  readonly transfers: Transfers;
  readonly deletions: Deletions;
  /** Wakes an owner whose objects must be reconciled. */
  readonly notify: (owner: string) => void;
}

interface PruneResult extends Pick<ApplyResult, 'changes' | 'blocked' | 'heldPrune'> {
  /** Objects that wait for confirmation, and stay the owner's until then. */
  readonly held: readonly InventoryEntry[];
  /** Kinds that are not served. */
  readonly unserved?: readonly GroupKind[];
}

/** An applied set; its owner may have more objects than the set. */
interface PruneRequest extends AskedBefore {
  readonly owner: BundleDeployment;
  readonly name: string;
  readonly state: OwnerState;
  /** Has the permissions of the owner. */
  readonly client: KubeClient;
  readonly set: Wanted;
  /** As in `ApplyRequest`. */
  readonly changedFacts?: string | undefined;
  readonly signal: AbortSignal;
}

interface OrphanRequest extends Pick<PruneRequest, 'owner' | 'client' | 'signal'> {
  /**
   * The owner is being deleted: core removes its marks itself if the owner's ServiceAccount may not,
   * so that the deletion can end (default: false).
   */
  readonly ownerEnds?: boolean;
}

const concurrentWrites = 8;

/**
 * Decides whether objects that a deployment has and no longer wants are deleted, wait or are
 * orphaned.
 */
export class Pruner {
  readonly #options: PrunerOptions;
  /** Objects with a deployment's labels that do not belong to it, already reported. */
  readonly #strangers = new Set<string>();

  constructor(options: PrunerOptions) {
    this.#options = options;
  }

  /** Plans the removal of the objects that the owner has and no longer wants. */
  async plan({
    owner,
    set,
    signal,
  }: Pick<PruneRequest, 'owner' | 'set' | 'signal'>): Promise<NamespacePlan> {
    const { inventory, defaultDeletionPolicy = 'Delete' } = this.#options;
    const { deletionPolicy: policy = defaultDeletionPolicy } = owner.spec;
    const plan = planRemoval(inventory, { owner, policy, wanted: set });
    const query = this.namespaceQuery(owner, plan, signal);
    return await orphanDefinitions(await orphanNamespaces(plan, query), query);
  }

  /** What it takes to check the content of namespaces that a plan would delete. */
  namespaceQuery(
    owner: BundleDeployment,
    { remove }: Pick<RemovalPlan, 'remove'>,
    signal: AbortSignal,
  ): NamespaceQuery & Pick<PrunerOptions, 'client'> {
    const { client, discovery, owners } = this.#options;
    const { name = '', uid: ownerUID = '' } = owner.metadata;
    return {
      client,
      discovery,
      going: new Set(remove.map(({ id }) => id)),
      ownerUID,
      otherUsers: (id) => otherUsers(owners, name, id),
      signal,
    };
  }

  /**
   * Deletes the objects that the owner has and no longer wants, as far as its policy and guards
   * allow.
   */
  async prune(run: PruneRequest): Promise<PruneResult> {
    const { transfers, deletions, earlierKinds } = this.#options;
    const { owner, name, state, client, set, signal } = run;
    const plan = await this.plan(run);
    const { orphan, remove, undecided } = plan;
    const isAsked = askedIn(run);
    this.tellStrangers(owner, set.ids);
    const dropped = [...remove, ...orphan.keys()];
    const awaited = await transfers.pending(owner, dropped, signal);
    if (awaited !== undefined) return { changes: 0, held: dropped, blocked: awaited };
    // Without a change that explains the deletion, orphaned objects stay the owner's as well.
    const leaving = new Map([...orphan].filter(([entry]) => isAsked(entry)));
    const staying = [...orphan.keys()].filter((entry) => !leaving.has(entry));
    const left = leaving.size;
    await this.orphan(run, leaving);
    if (remove.length === 0) {
      state.confirmedPrunes = new Set();
      return { changes: left, held: staying };
    }
    const { go, held: open, status, message } = await this.#guarded(run, remove);
    const problemOf = (id: string): string | undefined => this.#problemOf(run, id);
    const { now, later, blocked: unhealthy } = timePrune(go, { owner, set, problemOf });
    const because = 'its bundle no longer has it';
    const decided = now.filter((entry) => !undecided.has(entry));
    const refused = await deletions.delete(decided, { owner, because, client, signal });
    const { failures, unserved } = await earlierKinds.lost(name, refused, signal);
    throwAny(failures, 'upgrade', signal);
    for (const { id } of decided) state.forgetObject(id);
    throwUndecided(plan, now);
    const result = {
      changes: left + now.length,
      held: [...open, ...later, ...staying],
      unserved,
    };
    if (message === undefined) return { ...result, blocked: unhealthy };
    const blocked = { reason: progressReason.pruneHeld, message };
    return { ...result, blocked, heldPrune: status };
  }

  async #guarded(
    run: PruneRequest,
    remove: readonly InventoryEntry[],
  ): ReturnType<typeof guardPrune> {
    const { pruneDefaults: defaults, discovery } = this.#options;
    return await guardPrune(remove, { ...run, wanted: run.set.ids.size, defaults, discovery });
  }

  #problemOf({ state }: PruneRequest, id: string): string | undefined {
    const record = state.recordOf(id);
    return record && this.#options.drift.health(record);
  }

  /**
   * Orphans objects that must not be deleted, for the given reasons, and records an Event for each.
   */
  async orphan(
    request: OrphanRequest,
    entries: ReadonlyMap<InventoryEntry, string>,
  ): Promise<void> {
    const { owner, signal } = request;
    const { owners, inventory, events, notify } = this.#options;
    const { name = '' } = owner.metadata;
    const failures: ApplyFailure[] = [];
    const left: InventoryEntry[] = [];
    await forEachLimit([...entries.keys()], concurrentWrites, async (entry) => {
      try {
        await this.#orphanOne(entry, request);
        owners.find(name)?.forgetObject(entry.id);
        inventory.orphan(entry);
        // Other users may own the namespace now.
        for (const user of otherUsers(owners, name, entry.id)) notify(user);
        left.push(entry);
      } catch (error) {
        signal.throwIfAborted();
        failures.push({ object: entry, action: 'patch', error });
      }
    });
    for (const [because, group] of Map.groupBy(left, (entry) => entries.get(entry))) {
      const message = (list: string) => `Kept ${list}, without an owner from now on: ${because}`;
      for (const event of objectEvents(group, { reason: 'ObjectKept', message })) {
        events.event(owner, event);
      }
    }
    throwAny(failures, 'upgrade', signal);
  }

  async #orphanOne(entry: InventoryEntry, request: OrphanRequest): Promise<void> {
    const { owner, client, ownerEnds = false, signal } = request;
    const marks = { owner: owner.metadata.name ?? '', signal };
    try {
      await orphanObject(client, entry, marks);
    } catch (error) {
      if (!ownerEnds || !(await isOrphanDenied(error, entry, request))) throw error;
      // Removes only what core itself has written: nobody gets more permissions by it.
      await orphanObject(this.#options.client, entry, marks);
    }
  }

  /**
   * Reports, once per process, objects with a deployment's labels that core did not make for it,
   * because somebody may wait for their deletion. Skips objects with another controller, which are
   * copies by that controller (such as an EndpointSlice of a Service), and kept objects. For wanted
   * objects the apply reports the owner.
   */
  tellStrangers(owner: BundleDeployment, wanted: ReadonlySet<string> = new Set()): void {
    const { inventory, events } = this.#options;
    const fresh = inventory.ownedBy(owner.metadata.name ?? '').filter(({ id, object }) => {
      if (belongsTo(object, owner) || controllerOf(object) !== undefined) return false;
      if (isKept(object)) return false;
      return !wanted.has(id) && !this.#strangers.has(identity(object.metadata));
    });
    for (const { object } of fresh) this.#strangers.add(identity(object.metadata));
    const told = { reason: 'ObjectNotOwned', message: strangersMessage };
    for (const event of objectEvents(fresh, told)) {
      events.event(owner, { ...event, type: 'Warning' });
    }
  }
}

function strangersMessage(list: string): string {
  return (
    `${list} has the labels of this BundleDeployment, but core did not make it for this one ` +
    `(annotation ${annotation.trackingID}), and never deletes it. Delete it if it is not needed; ` +
    `else remove its label ${label.ownerName}`
  );
}

function identity({ uid = '', name = '' }: { readonly uid?: string; readonly name?: string }) {
  return `${uid}/${name}`;
}
