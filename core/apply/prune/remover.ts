import type { RemoveRequest, RemoveResult } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { EarlierKinds } from '../kinds/earlier-kinds.ts';
import type { KindWatches } from '../kinds/kind-watches.ts';
import { throwAny } from '../objects/failures.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { isNamespace } from '../objects/order.ts';
import { applySetKey, belongsTo } from '../objects/owner-marks.ts';
import { endNamespaces } from '../ownership/shared-namespaces.ts';
import type { Transfers } from '../ownership/transfers.ts';
import { clientOf } from '../privilege/permissions.ts';
import { removalDenial } from '../privilege/removal-denial.ts';
import { checkRestored, unchangedDeletion } from '../state/outdated-owner.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import type { Deletions } from '../write/deletions.ts';
import {
  type DefinitionQuery,
  orphanDefinitions,
  orphanOfLeftDefinitions,
} from './kept-definitions.ts';
import { orphanNamespaces, takeOrphanedNamespaces } from './namespaces.ts';
import type { Orphaner } from './orphan.ts';
import {
  hookObjects,
  planRemoval,
  type RemovalPlan,
  removalStages,
  throwUndecided,
} from './prune-plan.ts';
import type { Pruner } from './pruner.ts';
import { awaitRemoval, shownEntry, unservedMessage, waitingMessage } from './removal-watch.ts';

interface RemoverOptions {
  readonly client: KubeClient;
  readonly systemNamespace: string;
  readonly clock: Clock;
  readonly owners: OwnerStates;
  readonly inventory: Inventory;
  readonly earlierKinds: EarlierKinds;
  readonly watches: KindWatches;
  readonly deletions: Deletions;
  readonly pruner: Pruner;
  readonly orphaner: Orphaner;
  readonly transfers: Pick<Transfers, 'pendingDeletion'>;
  /** Wakes an owner whose objects must be reconciled. */
  readonly notify: (owner: string) => void;
}

interface Removal extends RemoveRequest {
  readonly state: OwnerState;
  /** Has the permissions of the owner. */
  readonly client: KubeClient;
  readonly ownerEnds: true;
}

type RemovalQuery = ReturnType<Pruner['contentQuery']> & Pick<DefinitionQuery, 'patience'>;

interface StageRemoval extends Removal {
  /** The objects of this stage, and those that core deletes later. */
  readonly all: ReadonlySet<InventoryEntry>;
}

/** Milliseconds in which one command has deleted all of its deployments. */
const untilOthersGo = 2_000;

/** Deletes or orphans the objects of deployments that are being deleted. */
export class Remover {
  readonly #options: RemoverOptions;

  constructor(options: RemoverOptions) {
    this.#options = options;
  }

  /**
   * Does what it can without waiting, from any state: the next call resumes an interrupted removal.
   */
  async remove(request: RemoveRequest): Promise<RemoveResult> {
    const { owner, signal } = request;
    const { owners, inventory, earlierKinds, watches, pruner, notify } = this.#options;
    const { name = '' } = owner.metadata;
    const state = owners.of(name);
    const client = clientOf(owner, this.#options.client);
    const removal: Removal = { ...request, state, client, ownerEnds: true };
    this.#checkMarks(request);
    const kinds = await earlierKinds.of(owner, signal);
    const { resources, unserved: unknown } = await earlierKinds.find(name, kinds, signal);
    const unserved = [...unknown];
    await watches.ensure(resources, signal);
    // A deployment that the API server deleted without waiting for core is not there to compare.
    if (owner.metadata.deletionTimestamp !== undefined) {
      await checkRestored(owner, this.#options, signal);
    }
    const known = planRemoval(inventory, request);
    const own = this.#options.client;
    const hooks = hookObjects(inventory, owner);
    const planned = await orphanOfLeftDefinitions(known, { ...request, client: own, hooks });
    const going = planned.remove.filter(isToBeDeleted);
    const awaited = await this.#options.transfers.pendingDeletion(owner, going, signal);
    if (awaited !== undefined) return { waitsFor: this.#waitsFor(state, awaited) };
    endNamespaces(
      state,
      planned.remove.filter(({ resource }) => isNamespace(resource)),
    );
    pruner.tellStrangers(owner);
    await this.#orphan(removal, planned);
    const stages = removalStages(planned.remove);
    for (const [index, candidates] of stages.entries()) {
      // What is still there of earlier stages was spared: it is not the deployment's any more.
      const query = this.#queryFor(removal, stages.slice(index).flat());
      // Not earlier: an aggregated API of the deployment may be unavailable until earlier stages
      // are deleted.
      const stage = { orphan: new Map(), remove: candidates };
      const plan = await orphanDefinitions(await orphanNamespaces(stage, query), query);
      await this.#checkUnchanged(removal, candidates);
      await this.#orphan(removal, { ...planned, orphan: plan.orphan });
      const decided = plan.remove.filter((entry) => !plan.undecided.has(entry));
      const later = planned.remove.filter(({ resource }) => !isNamespace(resource));
      const request = { ...removal, all: new Set([...decided, ...later]) };
      const waitsFor = await this.#removeStage(request, decided, unserved);
      throwUndecided(plan, plan.remove);
      if (waitsFor !== undefined) return { waitsFor };
    }
    // The deployment's own CRDs or APIServices may have taken a kind along.
    const left = await earlierKinds.find(name, unserved, signal);
    if (left.resources.length > 0) notify(name);
    if (unserved.length > 0 && left.unserved.length + left.resources.length > 0) {
      return { waitsFor: this.#waitsFor(state, unservedMessage(unserved)) };
    }
    const query = this.#queryFor(removal, []);
    if (await this.#takeOrphaned(removal, query)) return await this.remove(request);
    state.removal = undefined;
    return {};
  }

  /**
   * Somebody may set another policy amid the deletion, or want to keep the objects after all; the
   * watch may lag, or the lists of the kinds have taken long.
   */
  async #checkUnchanged(
    { owner, signal }: Removal,
    candidates: readonly InventoryEntry[],
  ): Promise<void> {
    if (!candidates.some(isToBeDeleted)) return;
    // A deployment that the API server deleted without waiting for core is not there to compare.
    if (owner.metadata.deletionTimestamp === undefined) return;
    await unchangedDeletion(owner, this.#options.client, signal);
  }

  /** For namespaces, while these objects are still to be deleted. */
  #queryFor({ owner, signal }: Removal, remove: readonly InventoryEntry[]): RemovalQuery {
    const query = this.#options.pruner.contentQuery(owner, { remove }, signal);
    const patience = (): Promise<void> => this.#options.clock.sleep(untilOthersGo, signal);
    // The garbage collector deletes the dependents of the deployment too.
    return { ...query, ownerUID: owner.metadata.uid, patience };
  }

  async #orphan(removal: Removal, plan: RemovalPlan): Promise<void> {
    try {
      await this.#options.orphaner.orphan(removal, plan);
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      await this.#throwDenial([cause], { ...removal, policy: 'Orphan' }, [...plan.orphan.keys()]);
      throw error;
    }
  }

  /** Throws when the ServiceAccount of the owner lacks permissions on objects to remove. */
  async #throwDenial(
    errors: readonly unknown[],
    removal: Removal,
    entries: readonly InventoryEntry[],
  ): Promise<void> {
    const left = entries.filter(({ deleted }) => !deleted);
    const own = this.#options.client;
    const denial = await removalDenial(errors, { ...removal, own, entries: left });
    if (denial !== undefined) throw denial;
  }

  /** Takes over empty namespaces that an earlier deployment orphaned. */
  async #takeOrphaned(
    { owner, state, policy, client }: Removal,
    query: RemovalQuery,
  ): Promise<boolean> {
    if (policy === 'Orphan') return false;
    const { inventory, systemNamespace } = this.#options;
    const namespaces = [...state.namespaces.values()];
    const request = { owner, namespaces, client, inventory, systemNamespace, query };
    return await takeOrphanedNamespaces(request);
  }

  /** Waits for what no event of an object of the deployment tells. */
  #waitsFor(state: OwnerState, message: string): NonNullable<RemoveResult['waitsFor']> {
    const awaited = { ids: [], shown: '' };
    return { message, since: awaitRemoval(state, awaited, this.#options.clock.monotonic()) };
  }

  /**
   * Without the deployment's ApplySet marks core does not know which objects to delete or orphan.
   */
  #checkMarks({ owner, policy }: RemoveRequest): void {
    if ((owner.status?.activeBundle ?? '') === '') return;
    if (!this.#options.earlierKinds.areLost(owner)) return;
    throw new Error(
      `label ${applySetKey.id} or annotation ${applySetKey.groupKinds} of the BundleDeployment was changed by others. ` +
        `Core needs them to find all objects (deletion policy ${policy}). Restore them`,
    );
  }

  /**
   * The objects to wait for after every object of the stage is being deleted; adds kinds that are
   * not served.
   */
  async #removeStage(
    removal: StageRemoval,
    stage: readonly InventoryEntry[],
    unserved: GroupKind[],
  ): Promise<RemoveResult['waitsFor']> {
    const { owner, state, client, signal } = removal;
    const { earlierKinds, inventory, deletions, clock } = this.#options;
    const doomed = stage.filter(isToBeDeleted);
    const because = 'its BundleDeployment is deleted';
    const context = { owner, because, client, podsFirst: true, signal };
    const refused = await deletions.delete(doomed, context);
    const lost = await earlierKinds.lost(state.name, refused, signal);
    const errors = lost.failures.map(({ error }) => error);
    await this.#throwDenial(errors, removal, [...removal.all]);
    throwAny(lost.failures, 'upgrade', signal);
    unserved.push(...lost.unserved);
    // The watches may have seen their deletion meanwhile.
    const left = stage
      .flatMap(({ resource, key }) => inventory.get(resource, key) ?? [])
      .filter(({ object }) => belongsTo(object, owner));
    const shown = shownEntry(left);
    if (shown === undefined) return undefined;
    const awaited = { ids: left.map(({ id }) => id), shown: shown.id };
    const since = awaitRemoval(state, awaited, clock.monotonic());
    return { message: waitingMessage(shown, left.length), since };
  }
}

function isToBeDeleted({ deleted, object }: InventoryEntry): boolean {
  return !deleted && object.metadata.deletionTimestamp === undefined;
}
