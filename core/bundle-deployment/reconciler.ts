import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { unlessGone } from '../platform/kube/index.ts';
import { statusPatch } from '../platform/runtime/index.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from './dependencies.ts';
import { runPostDeleteHooks, runPreDeleteHooks } from './hooks/delete-hooks.ts';
import { runPostHooks, runPreHooks } from './hooks/deploy-hooks.ts';
import { SlowClass } from './live-deployment.ts';
import { LastApplied, PlanMemory } from './memory.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from './phase.ts';
import { apply, certify, noteBegun, noteCertified } from './phases/apply.ts';
import { awaitDependencies } from './phases/await-dependencies.ts';
import { checkHealth, noteHealthy, retireBundles } from './phases/check-health.ts';
import { awaitUnpacked, followRollback } from './phases/choose-target.ts';
import {
  awaitClassForHooks,
  awaitDependents,
  isDeletedElsewhere,
  letGo,
  nameUnserved,
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

type Step = (
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
) => Promise<StepOutcome>;

const steps: readonly Step[] = [
  guardDeletion,
  pause,
  keepNamespace,
  ensureBundle,
  followRollback,
  awaitUnpacked,
  awaitDependencies,
  awaitApproval,
  loadOrKeepActive,
  keepGenerated,
  certify,
  noteBegun,
  runPreHooks,
  apply,
  noteCertified,
  runPostHooks,
  noteInstalled,
  closePlan,
  checkHealth,
  noteHealthy,
  retireBundles,
];

/** Of a class that no process serves any more. */
const unservedDeletionSteps: readonly Step[] = [
  awaitDependents,
  awaitClassForHooks,
  removeObjects,
  letGo,
];

const deletionSteps: readonly Step[] = [
  awaitDependents,
  runPreDeleteHooks,
  removeObjects,
  runPostDeleteHooks,
  letGo,
];

/** Brings the cluster to what one BundleDeployment asks for, and keeps it there. */
export class BundleDeploymentReconciler {
  readonly #dependencies: ReconcileDependencies;
  readonly #transitions: TransitionEvents;

  constructor(dependencies: BundleDeploymentDependencies) {
    const plans = new PlanMemory();
    this.#transitions = new TransitionEvents(dependencies);
    dependencies.applier.onChange((name) => plans.outdate(name));
    dependencies.facts.onChange((name) => plans.outdate(name));
    this.#dependencies = {
      ...dependencies,
      rendered: new RenderedObjects(),
      lastApplied: new LastApplied(),
      plans,
    };
  }

  /**
   * Reconciles the deployment of that name; a rejection asks for another try with back-off.
   * What it owned is the garbage collector's once it is deleted and has no finalizer of ours, and another
   * process's once its class is, while there is such a process.
   */
  async reconcile(name: string, context: StepContext): Promise<{ requeueAfter?: number }> {
    const deployment = this.#ownDeployment(name);
    if (deployment === undefined) {
      this.#forget(name);
      return {};
    }
    const wait = this.#waitForItsProcess(deployment);
    if (wait > 0) return { requeueAfter: wait };
    const observedGeneration = deployment.metadata.generation ?? 0;
    const state: BundleDeploymentState = {
      deployment,
      status: { ...deployment.status, observedGeneration },
    };
    const slowClass = new SlowClass(state, this.#dependencies, context);
    try {
      const outcome = await this.#runSteps(state, { ...context, slowClass });
      const { failure } = state;
      // Trying again would not help, and the active one may have to be looked at again.
      if (failure === undefined || failure instanceof TerminalError) return outcome;
      throw failure;
    } catch (error) {
      state.failure ??= asError(error);
      if (error instanceof TerminalError) return {};
      throw error;
    } finally {
      await slowClass.end();
      await this.#finish(state, context);
    }
  }

  async #finish(state: BundleDeploymentState, context: StepContext): Promise<void> {
    const { deployment } = state;
    if (isLetGo(deployment)) {
      this.#forget(deployment.metadata.name ?? '');
      return;
    }
    if (!isDeleted(deployment)) {
      watchDeadline(state, this.#dependencies, context);
      watchProgress(state, this.#dependencies, context);
    }
    if (!this.#serves(deployment)) nameUnserved(state);
    if (!context.signal.aborted) await this.#writeStatus(state, context);
  }

  #forget(name: string): void {
    const { applier, certificates, facts, rendered, lastApplied, plans, unserved } =
      this.#dependencies;
    applier.forget(name);
    facts.forget(name);
    certificates.forget(name);
    rendered.forget(name);
    lastApplied.forget(name);
    plans.forget(name);
    this.#transitions.forget(name);
    unserved?.forget(name);
  }

  /** Undefined where it is gone, or for other processes to see to. */
  #ownDeployment(name: string): BundleDeployment | undefined {
    const deployment = this.#dependencies.deployments.get({ name });
    if (deployment === undefined || isLetGo(deployment)) return undefined;
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

  async #runSteps(
    state: BundleDeploymentState,
    context: StepContext,
  ): Promise<{ requeueAfter?: number }> {
    for (const step of this.#stepsFor(state.deployment)) {
      const outcome = await step(state, this.#dependencies, context);
      if (outcome === 'done') return {};
      if (outcome !== 'continue') return outcome;
    }
    return {};
  }

  #stepsFor(deployment: BundleDeployment): readonly Step[] {
    if (!isDeleted(deployment)) return steps;
    return this.#serves(deployment) ? deletionSteps : unservedDeletionSteps;
  }

  async #writeStatus(state: BundleDeploymentState, { signal }: StepContext): Promise<void> {
    const { client, deployments, clock } = this.#dependencies;
    const { deployment } = state;
    const status = withSummary(state, progressing(state, clock), this.#dependencies);
    const patch = statusPatch(deployment, status);
    if (patch === undefined) {
      this.#transitions.record({ before: deployment, after: deployment });
      return;
    }
    const key = { name: deployment.metadata.name ?? '' };
    const target = { resource: bundleDeploymentResource, key };
    const options = { type: 'json', subresource: 'status', signal } as const;
    const written = await unlessGone(client.patch(target, patch, options));
    if (written === undefined) return;
    const after = written as BundleDeployment;
    deployments.upsertIfNewer(after);
    this.#transitions.record({ before: deployment, after });
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(errorMessage(thrown));
}

function isDeleted({ metadata }: BundleDeployment): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** True for one that is being deleted and has nothing left to wait for. */
function isLetGo(deployment: BundleDeployment): boolean {
  return isDeleted(deployment) && !hasFinalizer(deployment);
}
