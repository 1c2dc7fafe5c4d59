import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { OutdatedOwnerError } from '../apply/index.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { unlessGone } from '../platform/kube/index.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from './dependencies.ts';
import { LiveDeployment } from './live-deployment.ts';
import { DeploymentMemories, LastApplied, PlanMemory } from './memory.ts';
import {
  type BundleDeploymentState,
  type Found,
  isOutdated,
  type Phase,
  type PhaseContext,
} from './phase.ts';
import { removeObjects, tellFailure } from './phases/delete.ts';
import { hasFinalizer } from './phases/guard.ts';
import { deleteServed, deleteUnserved, rollOut } from './phases/sequences.ts';
import { UnguardedDeletions } from './phases/unguarded-deletions.ts';
import { askItsProcess, isBegunElsewhere, naming } from './phases/unserved-deletion.ts';
import { withSummary } from './readiness.ts';
import { RenderedObjects } from './rendering/rendered-objects.ts';
import { watchProgress } from './revisions/progress.ts';
import { reportRolledBack, watchDeadline } from './revisions/rollback.ts';
import { observed, progressing } from './status.ts';
import { TransitionEvents } from './transitions.ts';

/** Milliseconds: usually the watch tells of a changed deployment earlier. */
const untilWatched = 1_000;

type ReconcileContext = Omit<PhaseContext, 'live'>;

/** Applies one BundleDeployment, and keeps it applied. */
export class BundleDeploymentReconciler {
  readonly #dependencies: ReconcileDependencies;
  readonly #memories = new DeploymentMemories();
  readonly #unguarded: UnguardedDeletions;
  readonly #transitions: TransitionEvents;

  constructor(dependencies: BundleDeploymentDependencies) {
    const plans = new PlanMemory(this.#memories);
    this.#unguarded = new UnguardedDeletions(dependencies);
    this.#transitions = new TransitionEvents(dependencies, this.#memories);
    dependencies.applier.onChange((name) => plans.outdate(name));
    dependencies.facts.onChange((name) => plans.outdate(name));
    this.#dependencies = {
      ...dependencies,
      rendered: new RenderedObjects(this.#memories),
      lastApplied: new LastApplied(this.#memories),
      plans,
    };
  }

  /**
   * Receives the last state of each deployment whose deletion the watch reports. The next reconcile
   * of one with core's finalizer removes its objects. Without finalizer its objects stay: somebody
   * took it off to keep them.
   */
  noteDeleted(deployment: BundleDeployment): void {
    if (isDeleted(deployment) || !hasFinalizer(deployment) || !this.#serves(deployment)) return;
    this.#unguarded.note(deployment);
  }

  /**
   * Reconciles the deployment of that name; a rejection requests a retry with back-off. Without
   * core's finalizer, a deleted deployment's objects belong to the garbage collector. A deployment
   * of a class that another process serves belongs to that process.
   */
  async reconcile(name: string, context: ReconcileContext): Promise<{ requeueAfter?: number }> {
    const unguarded = this.#unguarded.find(name);
    if (unguarded !== undefined) {
      const pending = await this.#removeUnguarded(unguarded, context);
      if (pending !== undefined) return pending;
    }
    const deployment = this.#ownDeployment(name);
    if (deployment === undefined) {
      this.#forget(name);
      return {};
    }
    const wait = await this.#waitForItsProcess(deployment, context);
    if (wait > 0) return { requeueAfter: wait };
    return await this.#reconcile(deployment, context);
  }

  /**
   * Undefined when its objects are removed. A deployment of the same name that comes meanwhile waits,
   * as it would have had to.
   */
  async #removeUnguarded(
    deployment: BundleDeployment,
    context: ReconcileContext,
  ): Promise<{ requeueAfter?: number } | undefined> {
    const { name = '', uid } = deployment.metadata;
    const live = this.#liveOf(deployment, context);
    const state = { deployment: live.object, status: { ...live.object.status } };
    const isRestored = this.#dependencies.deployments.get({ name })?.metadata.uid === uid;
    const found = isRestored
      ? {}
      : await removeObjects(state, this.#dependencies, { ...context, live });
    if (found.error !== undefined) throw asError(found.error);
    if (found.requeueAfter !== undefined) return { requeueAfter: found.requeueAfter };
    if (found.done === true) return {};
    this.#unguarded.forget(name);
    this.#forget(name);
    return undefined;
  }

  #liveOf(deployment: BundleDeployment, context: ReconcileContext): LiveDeployment {
    const memory = this.#memories.of(deployment.metadata.name);
    return new LiveDeployment(deployment, this.#dependencies, { ...context, memory });
  }

  async #reconcile(
    stored: BundleDeployment,
    context: ReconcileContext,
  ): Promise<{ requeueAfter?: number }> {
    await this.#dependencies.applier.confirm(stored, context.signal);
    const live = this.#liveOf(stored, context);
    const deployment = live.object;
    const state = { deployment, status: observed(deployment) };
    const phase = this.#phaseFor(deployment);
    const found = await phase(state, this.#dependencies, { ...context, live });
    await live.announced();
    if (isOutdated(deployment, { live })) return { requeueAfter: untilWatched };
    if (found.error instanceof OutdatedOwnerError) throw found.error;
    return await this.#conclude({ ...state, ...found }, live, context);
  }

  async #conclude(
    found: BundleDeploymentState & Found,
    live: LiveDeployment,
    context: ReconcileContext,
  ): Promise<{ requeueAfter?: number }> {
    const end = 'error' in found ? asError(found.error) : undefined;
    const failure = found.failure ?? end;
    await this.#finish({ ...found, ...(failure && { failure }) }, live, context);
    // A retry of `failure` would not help, but the active Bundle may need one.
    const error = end ?? failure;
    if (error !== undefined && !(error instanceof TerminalError)) throw error;
    const { requeueAfter } = found;
    return end !== undefined || requeueAfter === undefined ? {} : { requeueAfter };
  }

  async #finish(
    state: BundleDeploymentState & Pick<Found, 'error'>,
    live: LiveDeployment,
    context: ReconcileContext,
  ): Promise<void> {
    const deployment = live.object;
    if (isReleased(deployment)) {
      this.#forget(deployment.metadata.name ?? '');
      return;
    }
    const found = this.#withDeadlines({ ...state, deployment }, { ...context, live });
    const blocked = this.#serves(deployment) ? found.blocked : naming(deployment, found.blocked);
    if (!context.signal.aborted) await this.#writeStatus({ ...found, blocked }, live);
  }

  #withDeadlines<S extends BundleDeploymentState>(state: S, context: PhaseContext): S {
    if (isDeleted(state.deployment)) return tellFailure(state, context);
    const given = { ...state, ...watchDeadline(state, this.#dependencies, context) };
    const timed = { ...given, ...watchProgress(given, this.#dependencies, context) };
    return { ...timed, ...reportRolledBack(timed, this.#dependencies) };
  }

  #forget(name: string): void {
    const { applier, certificates, facts, unserved } = this.#dependencies;
    applier.forget(name);
    facts.forget(name);
    certificates.forget(name);
    unserved?.forget(name);
    this.#memories.forget(name);
  }

  /** Undefined when the deployment is gone, or belongs to other processes. */
  #ownDeployment(name: string): BundleDeployment | undefined {
    const deployment = this.#dependencies.deployments.get({ name });
    if (deployment === undefined || isReleased(deployment)) return undefined;
    if (this.#serves(deployment)) return deployment;
    const isToBeEnded = this.#dependencies.unserved !== undefined && isDeleted(deployment);
    return isToBeEnded ? deployment : undefined;
  }

  /** Milliseconds until a process of its class must have started or continued the deletion. */
  async #waitForItsProcess(
    deployment: BundleDeployment,
    context: ReconcileContext,
  ): Promise<number> {
    const { unserved } = this.#dependencies;
    if (unserved === undefined || this.#serves(deployment)) return 0;
    const wait = unserved.remaining(deployment);
    if (wait > 0 || !isBegunElsewhere(deployment)) return wait;
    const memory = this.#memories.of(deployment.metadata.name);
    const dependencies = { ...this.#dependencies, unserved };
    return await askItsProcess(deployment, dependencies, { ...context, memory });
  }

  #serves({ spec }: BundleDeployment): boolean {
    return this.#dependencies.provisioners.has(spec.provisionerClassName);
  }

  #phaseFor(deployment: BundleDeployment): Phase {
    if (!isDeleted(deployment)) return rollOut;
    return this.#serves(deployment) ? deleteServed : deleteUnserved;
  }

  async #writeStatus(
    state: BundleDeploymentState & Pick<Found, 'error'>,
    live: LiveDeployment,
  ): Promise<void> {
    const before = live.object;
    const status = withSummary(
      state,
      progressing(state, this.#dependencies.clock),
      this.#dependencies,
    );
    const after = await unlessGone(live.writeStatus(status));
    if (after !== undefined) this.#transitions.record({ before, after });
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(errorMessage(thrown));
}

function isDeleted({ metadata }: BundleDeployment): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** True for a deleted deployment without anything left to wait for. */
function isReleased(deployment: BundleDeployment): boolean {
  return isDeleted(deployment) && !hasFinalizer(deployment);
}
