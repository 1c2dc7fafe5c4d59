import type {
  ApplyRequest,
  ApplyResult,
  DriftedObject,
  RememberedResult,
} from '../contracts/applier.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { type KubeClient, liveObject } from '../platform/kube/index.ts';
import type { DriftDetector } from './drift/drift.ts';
import { driftMode, noteDrift, splitPlan } from './drift/drift-policy.ts';
import type { HealthRules } from './drift/health-rules.ts';
import type { Inventory } from './inventory/inventory.ts';
import type { ApplySetParents } from './kinds/applyset-parent.ts';
import { type EarlierKinds, notServed } from './kinds/earlier-kinds.ts';
import type { OptionalKinds } from './kinds/optional-kinds.ts';
import type { PlannedObject } from './objects/desired.ts';
import { forEachLimit } from './objects/for-each-limit.ts';
import type { GroupKind } from './objects/object-id.ts';
import { applySetKey, groupKindNames } from './objects/owner-marks.ts';
import { transferTargets } from './ownership/ownership.ts';
import type { SharedNamespaces, UsedNamespaces } from './ownership/shared-namespaces.ts';
import type { Transfers } from './ownership/transfers.ts';
import { kindsOf, type Run } from './plan/plan.ts';
import type { Planner } from './plan/planner.ts';
import { askedKeys, spared } from './prune/asked-deletions.ts';
import { hookObjects } from './prune/prune-plan.ts';
import type { PruneResult, Pruner } from './prune/pruner.ts';
import type { SetWriter } from './set-writer.ts';
import { checkRestored } from './state/outdated-owner.ts';
import type { OwnerStates } from './state/owner-states.ts';

const concurrentReads = 8;

interface RollOutOptions {
  readonly client: KubeClient;
  readonly owners: OwnerStates;
  readonly inventory: Inventory;
  readonly events: EventSink;
  readonly earlierKinds: EarlierKinds;
  readonly drift: DriftDetector;
  readonly rules: HealthRules;
  readonly parents: ApplySetParents;
  readonly optionalKinds: OptionalKinds;
  readonly namespaces: SharedNamespaces;
  readonly transfers: Transfers;
  readonly planner: Planner;
  readonly setWriter: SetWriter;
  readonly pruner: Pruner;
  /** Wakes an owner whose objects must be reconciled. */
  readonly notify: (owner: string) => void;
}

/** The result of an apply before it prunes. */
interface Written extends ApplyResult {
  /** Kinds that are not served. */
  readonly unknown: readonly GroupKind[];
}

/** Applies one owner's set: plans, checks ownership and permissions, writes, prunes. */
export class RollOut {
  readonly #options: RollOutOptions;

  constructor(options: RollOutOptions) {
    this.#options = options;
  }

  async apply(request: ApplyRequest): Promise<ApplyResult> {
    const run = await this.#options.planner.begin(request);
    const remember = (found: RememberedResult = {}): void =>
      request.remember?.({ ...found, ...this.#kindsSoFar(run) });
    const written = await this.#write(run, request).catch((error: unknown) => {
      remember();
      throw error;
    });
    if (!written.complete) {
      const { unknown: _, ...result } = written;
      return { ...result, ...this.#kindsSoFar(run) };
    }
    await request.begin?.();
    return await this.#prune(run, written).catch((error: unknown) => {
      const entries = this.#options.pruner.unwanted(run);
      remember({ askedDeletions: askedKeys(run, { entries, unserved: written.unknown }) });
      throw error;
    });
  }

  /** Writes the objects of the set; `complete` when all are written. */
  async #write(run: Run, request: ApplyRequest): Promise<Written> {
    const { planner, namespaces, setWriter } = this.#options;
    this.#tellLostKinds(run);
    const { owner, state, signal } = run;
    const unserved = await planner.watchKinds(run);
    await checkRestored(owner, this.#options, signal);
    await this.#readJudged(run);
    state.finished.begin(request);
    const used = await namespaces.find(run);
    namespaces.note(owner, used);
    const { pending, drifted } = this.#plan(run, used);
    await planner.checkPermissions(run, pending);
    // The plan may have seen objects of a store that was restored since the first check.
    await checkRestored(owner, this.#options, signal);
    // Hooks need the ApplySet marks and finalizer too, even without any object to apply.
    const isNothing = pending.length === 0 && !run.foundationOnly;
    const applied = isNothing ? { changes: 0 } : await setWriter.write(run, pending);
    const complete = applied.blocked === undefined && !run.foundationOnly;
    // A watch may have ended meanwhile: what it showed would be pruned no more, nor remembered.
    const unknown = complete && !isNothing ? await planner.watchKinds(run) : unserved;
    return { ...applied, complete, drifted, finished: state.finished.all, unknown };
  }

  /** Prunes after everything is written; from then on the owner has exactly this set. */
  async #prune(run: Run, { unknown, ...written }: Written): Promise<ApplyResult> {
    const { pruner, optionalKinds, inventory } = this.#options;
    const unasked = run.standsIn ? spared(pruner.unwanted(run)) : undefined;
    const pruned: PruneResult = unasked ?? (await pruner.prune(run));
    const { changes, held, blocked, heldPrune, unserved: lost = [] } = pruned;
    run.state.waitingPrunes = new Set(held.map(({ id }) => id));
    const unserved = [...unknown, ...lost];
    const waiting = [...held.map(({ resource }) => resource), ...unserved];
    // Core never prunes these, and at the deletion of the owner must find those that are to be kept.
    const ofHooks = hookObjects(inventory, run.owner).map(({ resource }) => resource);
    // With each refusal the marks would lose and get the kinds of what is to be rolled out.
    const ofOther = run.standsIn ? run.earlier : [];
    const kinds = [...kindsOf(run), ...waiting, ...stillOwned(run), ...ofHooks, ...ofOther];
    await this.#settle(run, kinds);
    optionalKinds.await(run.owner, run.set.omitted);
    return {
      ...written,
      changes: written.changes + changes,
      blocked: blocked ?? notServed(unserved),
      heldPrune,
      askedDeletions: askedKeys(run, { entries: held, unserved }),
      finished: run.state.finished.all,
      groupKinds: groupKindNames(kinds),
    };
  }

  /** The kinds of which the owner may have objects by now; nothing before the first of all. */
  #kindsSoFar({ owner, earlier }: Run): Pick<ApplyResult, 'groupKinds'> {
    const groupKinds = groupKindNames([...earlier, ...this.#options.parents.kinds(owner)]);
    return groupKinds.length === 0 ? {} : { groupKinds };
  }

  /**
   * Takes the owner's present health rules. Reads objects again that they judge and whose content
   * the watch cache has dropped, because built-in rules need less of it.
   */
  async #readJudged({ owner, name, set, client, signal }: Run): Promise<void> {
    const { rules, inventory } = this.#options;
    if (!rules.use(owner)) return;
    const unread = set.objects.filter(
      ({ resource, key }) =>
        rules.has(name, resource) && inventory.get(resource, key)?.slim === true,
    );
    await forEachLimit(unread, concurrentReads, async ({ resource, key }) => {
      const live = await liveObject(client, { resource, key }, signal);
      if (live !== undefined) inventory.put(resource, live);
    });
  }

  /** Somebody may wait for objects of these kinds to be pruned. */
  #tellLostKinds({ owner }: Run): void {
    const { earlierKinds, events } = this.#options;
    if (owner.status?.applied === undefined || !earlierKinds.areLost(owner)) return;
    const message =
      `label ${applySetKey.id} and annotation ${applySetKey.groupKinds} of the BundleDeployment were removed. ` +
      'Core cannot find objects of kinds that only earlier versions had: if there are any, delete them';
    events.event(owner, { type: 'Warning', reason: 'KindsUnknown', message });
  }

  /** The objects that core must send; all others are recorded as the owner's. */
  #plan(
    run: Run,
    used: UsedNamespaces,
  ): {
    readonly pending: readonly PlannedObject[];
    readonly drifted: readonly DriftedObject[] | undefined;
  } {
    const { inventory, drift, transfers, planner } = this.#options;
    const { owner, state, unchanged } = run;
    const given = planner.given(run);
    transfers.keep(state, given);
    for (const { id } of [...given, ...used.keys()]) {
      state.dropRecord(id);
      state.release([id]);
    }
    const isCorrected = driftMode(owner) === 'Correct';
    const pause = (id: string): number => (isCorrected ? state.repairs.pause(id) : 0);
    const { pending, found } = planner.plan(run, { given, used }, pause);
    for (const record of found) {
      state.setRecord(record);
      const isGone = inventory.get(record.resource, record.key) === undefined;
      if (isGone && state.finished.find(record) === undefined) state.finished.assume(record);
      drift.health(record);
    }
    this.#noteFinished(run);
    // An object's live owner has priority over a deployment that only claims it.
    state.seize(found.map(({ id }) => id));
    const split = splitPlan(owner, pending, unchanged);
    return { pending: split.pending, drifted: noteDrift(run, this.#options, split.drifted) };
  }

  /** Replaces the record of an earlier Bundle's finished objects. */
  #noteFinished({ state, set }: Run): void {
    const { inventory, drift } = this.#options;
    for (const { id, resource, key } of set.objects) {
      const record = state.ownRecordOf(id);
      if (record?.runs === undefined) continue;
      drift.noteFinished(record, inventory.get(resource, key));
    }
  }

  /**
   * From now on the owner has exactly this set, and objects of kinds that still wait to be pruned.
   */
  async #settle(run: Run, kinds: readonly GroupKind[]): Promise<void> {
    const { parents, owners, notify } = this.#options;
    const { owner, state, set, signal } = run;
    state.setMembers(set.ids);
    state.rules?.verdicts.keepOnly(set.ids);
    const left = run.standsIn ? state.waitingPrunes : [];
    state.claim(left);
    state.settle(new Set([...set.ids, ...left]));
    state.finished.keepOnly(set.ids);
    await parents.write(owner, kinds, signal);
    // They may wait for objects that they can take now.
    for (const taker of transferTargets(owner)) {
      if (owners.find(taker)?.isSettled !== true) notify(taker);
    }
  }
}

/** Kinds that the cluster does not seem to serve, and of which the owner may have objects. */
function stillOwned({ set, earlier }: Run): readonly GroupKind[] {
  return set.omitted.filter((each) =>
    earlier.some(({ group, kind }) => each.group === group && each.kind === kind),
  );
}
