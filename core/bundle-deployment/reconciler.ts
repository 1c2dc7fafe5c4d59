import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { unlessGone } from '../platform/kube/index.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from './dependencies.ts';
import { runPostDeleteHooks, runPreDeleteHooks } from './hooks/delete-hooks.ts';
import { runPostHooks, runPreHooks } from './hooks/deploy-hooks.ts';
import { LiveDeployment } from './live-deployment.ts';
import { DeploymentMemories, LastApplied, PlanMemory } from './memory.ts';
import { type BundleDeploymentState, inOrder, type Phase, type PhaseContext } from './phase.ts';
import { apply, certify, noteBegun, noteCertified } from './phases/apply.ts';
import { awaitDependencies } from './phases/await-dependencies.ts';
import { checkHealth, noteHealthy, retireBundles } from './phases/check-health.ts';
import { awaitUnpacked, followRollback } from './phases/choose-target.ts';
import {
  awaitClassForHooks,
  awaitDependents,
  isDeletedElsewhere,
  naming,
  release,
  removeObjects,
} from './phases/delete.ts';
import { ensureBundle } from './phases/ensure-bundle.ts';
import { guardDeletion, hasFinalizer, keepNamespace, pause } from './phases/guard.ts';
import { noteInstalled } from './phases/note-installed.ts';
import { awaitApproval, closePlan } from './plan/await-approval.ts';
import { withSummary } from './readiness.ts';
import { keepGenerated } from './rendering/keep-generated.ts';
import { loadOrKeepActive } from './rendering/load-objects.ts';
import { RenderedObjects } from './rendering/rendered-objects.ts';
import { watchDeadline, watchProgress } from './revisions/progress.ts';
import { progressing } from './status.ts';
import { TransitionEvents } from './transitions.ts';

/** A deployment that may be changed, where it is. */
const guard = inOrder(guardDeletion, pause, keepNamespace);
/** The Bundle of the template, or the active one while that one has to wait. */
const chooseTarget = inOrder(ensureBundle, followRollback, awaitUnpacked, awaitDependencies);
/** The objects of the target, as they may be applied. */
const renderTarget = inOrder(awaitApproval, loadOrKeepActive, keepGenerated, certify);
/** What is noted before the first object is written is what a crash amid them must not lose. */
const applyTarget = inOrder(noteBegun, runPreHooks, apply, noteCertified, runPostHooks);
const noteTarget = inOrder(noteInstalled, closePlan);
const finish = inOrder(checkHealth, noteHealthy, retireBundles);

const rollOut = inOrder(guard, chooseTarget, renderTarget, applyTarget, noteTarget, finish);

/** Of a class that no process serves any more. */
const deleteUnserved = inOrder(awaitDependents, awaitClassForHooks, removeObjects, release);

const deleteServed = inOrder(
  awaitDependents,
  runPreDeleteHooks,
  removeObjects,
  runPostDeleteHooks,
  release,
);

type ReconcileContext = Omit<PhaseContext, 'live'>;

/** Brings the cluster to what one BundleDeployment asks for, and keeps it there. */
export class BundleDeploymentReconciler {
  readonly #dependencies: ReconcileDependencies;
  readonly #memories = new DeploymentMemories();
  readonly #transitions: TransitionEvents;

  constructor(dependencies: BundleDeploymentDependencies) {
    const plans = new PlanMemory(this.#memories);
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
   * Reconciles the deployment of that name; a rejection asks for another try with back-off.
   * What it owned is the garbage collector's once it is deleted and has no finalizer of ours, and another
   * process's once its class is, while there is such a process.
   */
  async reconcile(name: string, context: ReconcileContext): Promise<{ requeueAfter?: number }> {
    const deployment = this.#ownDeployment(name);
    if (deployment === undefined) {
      this.#forget(name);
      return {};
    }
    const wait = this.#waitForItsProcess(deployment);
    if (wait > 0) return { requeueAfter: wait };
    return await this.#reconcile(deployment, context);
  }

  async #reconcile(
    deployment: BundleDeployment,
    context: ReconcileContext,
  ): Promise<{ requeueAfter?: number }> {
    const observedGeneration = deployment.metadata.generation ?? 0;
    const state = { deployment, status: { ...deployment.status, observedGeneration } };
    const live = new LiveDeployment(deployment, this.#dependencies, context);
    const phase = this.#phaseFor(deployment);
    const found = await phase(state, this.#dependencies, { ...context, live });
    await live.announced();
    const end = 'error' in found ? asError(found.error) : undefined;
    const failure = found.failure ?? end;
    await this.#finish({ ...state, ...found, ...(failure && { failure }) }, live, context);
    // Trying again would not help, and the active one may have to be looked at again.
    const error = end ?? failure;
    if (error !== undefined && !(error instanceof TerminalError)) throw error;
    const { requeueAfter } = found;
    return end !== undefined || requeueAfter === undefined ? {} : { requeueAfter };
  }

  async #finish(
    state: BundleDeploymentState,
    live: LiveDeployment,
    context: ReconcileContext,
  ): Promise<void> {
    const deployment = live.object;
    if (isReleased(deployment)) {
      this.#forget(deployment.metadata.name ?? '');
      return;
    }
    const found = this.#withDeadlines({ ...state, deployment }, context);
    const blocked = this.#serves(deployment) ? found.blocked : naming(deployment, found.blocked);
    if (!context.signal.aborted) await this.#writeStatus({ ...found, blocked }, live);
  }

  #withDeadlines(state: BundleDeploymentState, context: ReconcileContext): BundleDeploymentState {
    if (isDeleted(state.deployment)) return state;
    const given = { ...state, ...watchDeadline(state, this.#dependencies, context) };
    return { ...given, ...watchProgress(given, this.#dependencies, context) };
  }

  #forget(name: string): void {
    const { applier, certificates, facts, unserved } = this.#dependencies;
    applier.forget(name);
    facts.forget(name);
    certificates.forget(name);
    unserved?.forget(name);
    this.#memories.forget(name);
  }

  /** Undefined where it is gone, or for other processes to see to. */
  #ownDeployment(name: string): BundleDeployment | undefined {
    const deployment = this.#dependencies.deployments.get({ name });
    if (deployment === undefined || isReleased(deployment)) return undefined;
    if (this.#serves(deployment)) return deployment;
    const isToBeEnded = this.#dependencies.unserved !== undefined && isDeleted(deployment);
    return isToBeEnded && !isDeletedElsewhere(deployment) ? deployment : undefined;
  }

  /** Milliseconds that a process of its class has to be at its deletion. */
  #waitForItsProcess(deployment: BundleDeployment): number {
    const { unserved } = this.#dependencies;
    return this.#serves(deployment) ? 0 : (unserved?.remaining(deployment) ?? 0);
  }

  #serves({ spec }: BundleDeployment): boolean {
    return this.#dependencies.provisioners.has(spec.provisionerClassName);
  }

  #phaseFor(deployment: BundleDeployment): Phase {
    if (!isDeleted(deployment)) return rollOut;
    return this.#serves(deployment) ? deleteServed : deleteUnserved;
  }

  async #writeStatus(state: BundleDeploymentState, live: LiveDeployment): Promise<void> {
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

/** True for one that is being deleted and has nothing left to wait for. */
function isReleased(deployment: BundleDeployment): boolean {
  return isDeleted(deployment) && !hasFinalizer(deployment);
}
