import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { DeletionPolicy, PrunePolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import type { ApplyResult } from '../../contracts/applier.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Discovery, KubeClient, NamespacedKinds } from '../../platform/kube/index.ts';
import type { DriftDetector } from '../drift/drift.ts';
import { type InventoryEntry, identity } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { EarlierKinds } from '../kinds/earlier-kinds.ts';
import { throwAny } from '../objects/failures.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { isNamespace } from '../objects/order.ts';
import { otherUsers } from '../ownership/shared-namespaces.ts';
import type { Transfers } from '../ownership/transfers.ts';
import { unchangedOwner } from '../state/outdated-owner.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import type { Deletions } from '../write/deletions.ts';
import { type AskedBefore, askedIn } from './asked-deletions.ts';
import { orphanDefinitions, orphanOfLeftDefinitions } from './kept-definitions.ts';
import type { NamespaceQuery } from './namespace-content.ts';
import { orphanNamespaces } from './namespaces.ts';
import type { Orphaner } from './orphan.ts';
import { guardPrune, timePrune } from './prune-guard.ts';
import {
  type CheckedPlan,
  planRemoval,
  type RemovalPlan,
  throwUndecided,
  type Wanted,
} from './prune-plan.ts';
import { Strangers } from './strangers.ts';

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
  readonly orphaner: Orphaner;
  readonly drift: DriftDetector;
  readonly earlierKinds: EarlierKinds;
  readonly transfers: Transfers;
  readonly deletions: Deletions;
}

export interface PruneResult extends Pick<ApplyResult, 'changes' | 'blocked' | 'heldPrune'> {
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

/**
 * Decides whether objects that a deployment has and no longer wants are deleted, wait or are
 * orphaned.
 */
export class Pruner {
  readonly #options: PrunerOptions;
  readonly #strangers: Strangers;

  constructor(options: PrunerOptions) {
    this.#options = options;
    this.#strangers = new Strangers(options);
  }

  /** Records an Event for objects with the owner's labels that are not its own. */
  tellStrangers(owner: BundleDeployment, wanted?: ReadonlySet<string>): void {
    this.#strangers.tell(owner, wanted);
  }

  /** Objects that the owner has and no longer wants. */
  unwanted(request: Pick<PruneRequest, 'owner' | 'set'>): readonly InventoryEntry[] {
    const { remove, orphan } = this.#plan(request);
    return [...remove, ...orphan.keys()];
  }

  #plan({ owner, set }: Pick<PruneRequest, 'owner' | 'set'>): RemovalPlan {
    const { inventory } = this.#options;
    return planRemoval(inventory, { owner, policy: this.#policyOf(owner), wanted: set });
  }

  #policyOf({ spec }: BundleDeployment): DeletionPolicy {
    return spec.deletionPolicy ?? this.#options.defaultDeletionPolicy ?? 'Delete';
  }

  /** Plans the removal of these objects. */
  async plan(request: Pick<PruneRequest, 'owner' | 'set' | 'signal'>): Promise<CheckedPlan> {
    const { owner, set, signal } = request;
    const { client } = this.#options;
    const left = { owner, policy: this.#policyOf(owner), client, wanted: set.objects, signal };
    const plan = await orphanOfLeftDefinitions(this.#plan(request), left);
    const query = this.contentQuery(owner, plan, signal);
    return await orphanDefinitions(await orphanNamespaces(plan, query), query);
  }

  /** What it takes to check the content of namespaces and CRDs that a plan would delete. */
  contentQuery(
    owner: BundleDeployment,
    { remove }: Pick<RemovalPlan, 'remove'>,
    signal: AbortSignal,
  ): NamespaceQuery & Pick<PrunerOptions, 'client'> & { readonly owner: string } {
    const { client, discovery, owners } = this.#options;
    const { name = '' } = owner.metadata;
    return {
      owner: name,
      client,
      discovery,
      going: new Set(remove.map(identity)),
      otherUsers: (id) => otherUsers(owners, name, id),
      signal,
    };
  }

  /**
   * Deletes the objects that the owner has and no longer wants, as far as its policy and guards
   * allow.
   */
  async prune(run: PruneRequest): Promise<PruneResult> {
    const { client, transfers } = this.#options;
    const { owner, state, set, signal } = run;
    const plan = await this.plan(run);
    const { orphan, remove, undecided } = plan;
    this.tellStrangers(owner, set.ids);
    const dropped = [...remove, ...orphan.keys()];
    const current = dropped.length === 0 ? owner : await unchangedOwner(owner, client, signal);
    const awaited = await transfers.pending(current, dropped, signal);
    if (awaited !== undefined) return { changes: 0, held: dropped, blocked: awaited };
    const staying = await this.#orphanAsked(run, plan);
    const left = orphan.size - staying.length;
    if (remove.length === 0) {
      state.confirmedPrunes = new Set();
      return { changes: left, held: staying };
    }
    const { go, held: open, status, message } = await this.#guarded(run, remove);
    const problemOf = (id: string): string | undefined => this.#problemOf(run, id);
    const { now, later, blocked: unhealthy } = timePrune(go, { owner, set, problemOf });
    const [namespaces, others] = split(now, ({ resource }) => isNamespace(resource));
    const [, decidedOthers] = split(others, (entry) => undecided.has(entry));
    const { unserved, undone } = await this.#delete(run, decidedOthers);
    // Not earlier: a refused or spared deletion of an object in a namespace keeps the namespace.
    const inhabited = new Set([...open, ...later].map(({ key }) => key.namespace));
    const [waiting, rest] = split(namespaces, ({ key }) => inhabited.has(key.name));
    const [, decided] = split(rest, (entry) => undecided.has(entry));
    const stay = await this.#deleteNamespaces(run, decided, remove);
    throwUndecided(plan, [...others, ...rest]);
    const spared = [...waiting, ...undone, ...stay];
    const changes = left + now.length - spared.length;
    const held = [...open, ...later, ...staying, ...spared];
    const result = { changes, held, unserved };
    if (message === undefined) return { ...result, blocked: unhealthy };
    const blocked = { reason: progressReason.pruneHeld, message };
    return { ...result, blocked, heldPrune: status };
  }

  /**
   * Deletes these objects. Returns kinds that are not served, and objects that stay the owner's until
   * the next look: those of such a kind, and those that somebody has just annotated to be kept.
   */
  async #delete(
    { owner, name, state, client, signal }: PruneRequest,
    entries: readonly InventoryEntry[],
  ): Promise<{ readonly unserved: readonly GroupKind[]; readonly undone: Entries }> {
    const { deletions, earlierKinds } = this.#options;
    const because = 'its bundle no longer has it';
    const refused = await deletions.delete(entries, { owner, because, client, signal });
    const { failures, unserved } = await earlierKinds.lost(name, refused, signal);
    throwAny(failures, 'upgrade', signal);
    const [gone, undone] = split(entries, ({ deleted }) => deleted);
    for (const { id } of gone) state.forgetObject(id);
    return { unserved, undone };
  }

  /**
   * Deletes namespaces after the deletions in them were sent, and orphans those that still hold
   * other objects. Returns namespaces that stay the owner's: no change explains the deletion, or
   * somebody has just annotated them to be kept.
   */
  async #deleteNamespaces(
    run: PruneRequest,
    namespaces: readonly InventoryEntry[],
    sent: readonly InventoryEntry[],
  ): Promise<readonly InventoryEntry[]> {
    if (namespaces.length === 0) return [];
    const query = this.contentQuery(run.owner, { remove: sent }, run.signal);
    const planned = { orphan: new Map<InventoryEntry, string>(), remove: namespaces };
    const plan = await orphanNamespaces(planned, { ...query, deletionsSent: true });
    const staying = await this.#orphanAsked(run, plan);
    const [, decided] = split(plan.remove, (entry) => plan.undecided.has(entry));
    const { undone } = await this.#delete(run, decided);
    throwUndecided(plan, namespaces);
    return [...staying, ...undone];
  }

  /**
   * Orphans objects that a change explains. Returns the others: they stay the owner's, as objects do
   * that wait to be deleted.
   */
  async #orphanAsked(
    run: PruneRequest,
    { orphan, remove }: RemovalPlan,
  ): Promise<readonly InventoryEntry[]> {
    const isAsked = askedIn(run);
    const asked = new Map([...orphan].filter(([entry]) => isAsked(entry)));
    await this.#options.orphaner.orphan(run, { orphan: asked, remove });
    return [...orphan.keys()].filter((entry) => !isAsked(entry));
  }

  async #guarded(
    run: PruneRequest,
    remove: readonly InventoryEntry[],
  ): ReturnType<typeof guardPrune> {
    const { pruneDefaults: defaults, discovery } = this.#options;
    return await guardPrune(remove, { ...run, wanted: run.set.ids.size, defaults, discovery });
  }

  /** The health of an object that another deployment has wakes only that one. */
  #problemOf({ state }: PruneRequest, id: string): string | undefined {
    const record = state.ownRecordOf(id);
    return record && this.#options.drift.health(record);
  }
}

type Entries = readonly InventoryEntry[];

/** The entries for which it is true, and the others. */
function split(entries: Entries, isFirst: (entry: InventoryEntry) => boolean): [Entries, Entries] {
  const groups = Map.groupBy(entries, isFirst);
  return [groups.get(true) ?? [], groups.get(false) ?? []];
}
