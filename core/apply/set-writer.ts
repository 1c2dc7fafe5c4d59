import { annotation } from '../../api/v1alpha1/labels.ts';
import type { ApplyResult } from '../contracts/applier.ts';
import { isConflict } from '../platform/kube/index.ts';
import type { DriftDetector } from './drift/drift.ts';
import { type HookEvent, hookOf } from './hooks/hook.ts';
import type { Inventory } from './inventory/inventory.ts';
import { isData } from './inventory/user-data.ts';
import type { ApplySetParents } from './kinds/applyset-parent.ts';
import type { Definitions } from './kinds/definitions.ts';
import type { KindWatches } from './kinds/kind-watches.ts';
import type { CheckedObject, DesiredObject, PlannedObject } from './objects/desired.ts';
import { type ApplyFailure, throwAny } from './objects/failures.ts';
import type { Operation } from './objects/operation.ts';
import { isDefinition, isNamespace, isNamespaceOrDefinition } from './objects/order.ts';
import {
  type OwnershipCheck,
  OwnershipRefusal,
  type OwnershipRequest,
} from './ownership/ownership-check.ts';
import type { Transfers } from './ownership/transfers.ts';
import { kindsOf, type Run } from './plan/plan.ts';
import { tryDefinitions } from './stages/definition-trial.ts';
import {
  holdUpBeforeFirst,
  readinessOf,
  runStages,
  type Stage,
  stagesOf,
  stagesToRun,
} from './stages/stages.ts';
import type { Deletions } from './write/deletions.ts';
import { isReplaced } from './write/server-side-apply.ts';
import type { Writer } from './write/writer.ts';

interface SetWriterOptions {
  readonly inventory: Inventory;
  readonly drift: DriftDetector;
  readonly ownership: OwnershipCheck;
  readonly parents: ApplySetParents;
  readonly writer: Writer;
  readonly transfers: Transfers;
  readonly definitions: Definitions;
  readonly watches: KindWatches;
  readonly deletions: Deletions;
}

type Applied = Pick<ApplyResult, 'changes' | 'blocked'>;

/** What a run has written so far. */
class Written {
  changes = 0;
  /** Objects that this run created. */
  readonly created: CheckedObject[] = [];
}

/** Writes the planned objects of a set, stage after stage. */
export class SetWriter {
  readonly #options: SetWriterOptions;

  constructor(options: SetWriterOptions) {
    this.#options = options;
  }

  /** Writes as far as the stages allow; returns the number of changed objects. */
  async write(run: Run, plan: readonly PlannedObject[]): Promise<Applied> {
    const { drift, ownership, parents } = this.#options;
    const { owner, state, set, earlier, signal } = run;
    const problemOf = readinessOf(run, plan, drift);
    const staged = { objects: set.objects, waits: problemOf !== undefined };
    const early = holdUpBeforeFirst(stagesOf({ ...staged, pending: plan }), problemOf);
    if (early !== undefined) {
      // A new process finds applied objects in the cluster: the owner's state must have their IDs,
      // to forget them with it.
      state.addMembers(set.ids);
      return { changes: 0, blocked: early };
    }
    const pending = await ownership.run(ownershipRequest(run, plan));
    state.addMembers(set.ids);
    await parents.write(owner, [...kindsOf(run), ...earlier], signal);
    const operation: Operation = pending.every(({ repair }) => repair)
      ? 'reconcile'
      : run.operation;
    const stages = stagesToRun(run, { ...staged, pending });
    throwAny(await tryDefinitions(stages, run), operation, signal);
    await run.begin?.();
    const written = new Written();
    try {
      const { failures, blocked } = await runStages(stages, {
        operation,
        apply: async (object) => await this.#writeObject(run, object, written),
        definitionsWritten: async (stage) => await this.#definitionsWritten(run, stage),
        problemOf,
      });
      throwAny(failures, operation, signal);
      state.occupied = false;
      return { changes: written.changes, blocked };
    } catch (error) {
      // An upgrade or repair keeps what it created.
      if (!(error instanceof OwnershipRefusal) || run.operation !== 'install') throw error;
      await this.#undo(run, written);
      throw await this.#refusalOfAll(run, plan, error);
    }
  }

  async #writeObject(run: Run, object: CheckedObject, written: Written): Promise<void> {
    const { writer, ownership, transfers } = this.#options;
    try {
      if (!(await writer.write(run, object))) return;
      written.changes += 1;
      transfers.tell(run.owner, object);
      if (object.createOnly) written.created.push(object);
    } catch (error) {
      const isAnother = object.createOnly ? isConflict(error) : isReplaced(error);
      if (!isAnother) throw error;
      // The object exists after all, or is another one now: judge its owner.
      const unread = { ...object, live: undefined };
      const request = { ...ownershipRequest(run, [unread]), readsFirst: () => true };
      for (const found of await ownership.judge(request)) {
        if (await writer.write(run, found)) written.changes += 1;
        transfers.tell(run.owner, found);
      }
    }
  }

  /**
   * Resolves when the stage's other objects can be created: its CRDs are established and their
   * kinds watched.
   */
  async #definitionsWritten(
    { set, signal }: Run,
    { objects, pending }: Stage,
  ): Promise<readonly ApplyFailure[]> {
    const { definitions, watches } = this.#options;
    const applied = pending.map(({ desired }) => desired);
    const crds = applied.filter(({ resource }) => isDefinition(resource));
    const failures = await definitions.established(crds, signal);
    if (failures.length > 0) return failures;
    const fresh = objects.filter((object) => !set.isServed(object));
    const kinds = [...new Set(fresh.map(({ resource }) => resource))];
    if (crds.length === 0 && kinds.length === 0) return [];
    await definitions.served(kinds, crds, signal);
    await watches.ensure(kinds, signal);
    return [];
  }

  /**
   * Deletes the objects that a refused install created, except those that may hold other objects by
   * now: these wait for the next apply, or for the deployment's deletion.
   */
  async #undo({ owner, state, client, signal }: Run, { created }: Written): Promise<void> {
    const { inventory, deletions } = this.#options;
    // Later attempts look first, so that objects are not created and deleted each time.
    state.occupied = true;
    const entries = created
      // Another object may have taken its name.
      .flatMap(({ desired: { resource, key } }) => inventory.get(resource, key) ?? [])
      .filter((entry) => !isData(entry));
    state.setMembers([]);
    for (const { id } of entries) state.forgetObject(id);
    const because =
      'the installation failed because objects of other owners exist, and core rolls it back';
    const failures = await deletions.delete(entries, { owner, because, client, signal });
    throwAny(failures, 'install', signal);
  }

  /** A refusal that names every conflicting object, not only the first one found. */
  async #refusalOfAll(
    run: Run,
    plan: readonly PlannedObject[],
    first: OwnershipRefusal,
  ): Promise<Error> {
    try {
      const unread = plan.filter(({ live }) => live === undefined);
      const request = { ...ownershipRequest(run, unread), readsFirst: () => true };
      await this.#options.ownership.judge(request);
      return first;
    } catch (error) {
      return error instanceof OwnershipRefusal ? error : first;
    } finally {
      run.state.releaseAll();
    }
  }
}

function ownershipRequest(run: Run, pending: readonly PlannedObject[]): OwnershipRequest {
  const { owner, operation, set, client, foundationOnly, signal } = run;
  const findsNothing = expectsNothing(run);
  return {
    owner,
    operation,
    client,
    desired: set.objects,
    pending,
    hooks: hooksOf(run),
    hooksNext: foundationOnly,
    presentAs: set.presentAs,
    readsFirst: ({ repair, desired }) =>
      // At this point core knows which namespaces exist.
      !repair &&
      !isNamespace(desired.resource) &&
      !(findsNothing && !isNamespaceOrDefinition(desired.resource)),
    signal,
  };
}

/** The hooks that run in this operation. */
function hooksOf({ hooks, operation }: Run): readonly DesiredObject[] {
  const due: readonly HookEvent[] = [`pre-${operation}`, `post-${operation}`];
  return hooks.filter(({ object }) => hookOf(object).events.some((event) => due.includes(event)));
}

/**
 * True for a first install without a sign of existing objects. Creating at once costs half the
 * requests of looking first; after a wrong guess core deletes what it created (docs/adr/0017). An
 * upgrade looks first, because its changes could not be undone.
 */
function expectsNothing({
  owner,
  state,
  operation,
  earlier,
  waitForReady,
  foundationOnly,
}: Run): boolean {
  const { adoption = 'Never' } = owner.spec;
  return (
    operation === 'install' &&
    earlier.length === 0 &&
    // Objects of earlier stages could not be undone either.
    !waitForReady &&
    // Effects of hooks could not be undone.
    !foundationOnly &&
    adoption === 'Never' &&
    owner.metadata.annotations?.[annotation.adopt] === undefined &&
    !state.occupied
  );
}
