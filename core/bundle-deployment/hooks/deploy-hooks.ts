import type { KubernetesObject } from '../../../api/meta.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { type HookEvent, hooksOf } from '../../apply/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { failureReason, installFailure } from '../install-failure.ts';
import { withBegun } from '../revisions/progress.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { notInstalled, notObserved } from '../status.ts';
import { runOf } from './hook-run.ts';
import { pendingOperation } from './pending-operation.ts';
import {
  type HookEventRequest,
  type HookEventState,
  type HookSurroundings,
  runEvent,
} from './run-event.ts';

/**
 * Runs the hooks before an install or upgrade. What is to be applied is checked as a whole before
 * the first of them, and of it only namespaces and CRDs are applied: hooks may need them.
 */
export async function runPreHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const operation = pendingOperation(state);
  if (operation === undefined) return 'continue';
  const request = requestOf(state, `pre-${operation}`);
  if (request.hooks.length === 0) return 'continue';
  // Those after it have begun.
  if (runOf(state.status, requestOf(state, `post-${operation}`)) !== undefined) return 'continue';
  const surroundings = { dependencies, context };
  return await told(state, surroundings, async () => {
    if (runOf(state.status, request) === undefined) await prepare(state, surroundings);
    return await runEvent(state, request, surroundings);
  });
}

/** Runs the hooks after everything is applied; only then is it installed. */
export async function runPostHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const operation = pendingOperation(state);
  if (operation === undefined) return 'continue';
  const request = requestOf(state, `post-${operation}`);
  if (request.hooks.length === 0) return 'continue';
  const surroundings = { dependencies, context };
  return await told(state, surroundings, async () => await runEvent(state, request, surroundings));
}

function requestOf(state: BundleDeploymentState, event: HookEvent): HookEventRequest {
  const hooks: readonly KubernetesObject[] = state.hooks ?? [];
  return { event, revision: state.revision ?? '', hooks: hooksOf(event, hooks) };
}

async function prepare(
  state: BundleDeploymentState,
  { dependencies: { applier, clock }, context: { signal } }: HookSurroundings,
): Promise<void> {
  const { deployment: owner, objects = [], hooks = [] } = state;
  state.status = withBegun(state, clock);
  await applier.apply({ owner, objects, hooks, foundationOnly: true, signal });
}

/** Puts into the status what has become of the event. The last good Bundle stays active. */
async function told(
  state: BundleDeploymentState,
  { dependencies, context }: HookSurroundings,
  run: () => Promise<HookEventState>,
): Promise<StepOutcome> {
  try {
    return outcomeOf(state, await run(), dependencies);
  } catch (error) {
    if (context.signal.aborted) throw error;
    throw installFailure(state, error, dependencies);
  }
}

function outcomeOf(
  state: BundleDeploymentState,
  result: HookEventState,
  { clock, reportHealth }: Pick<ReconcileDependencies, 'clock' | 'reportHealth'>,
): StepOutcome {
  if (result.state === 'done') return 'continue';
  if (result.state === 'noted') {
    // What is installed is not yet what is asked for, though no condition says so.
    state.status = notObserved(state);
    return { requeueAfter: 0 };
  }
  const { message } = result;
  if (result.state === 'waiting') {
    const waiting = { reason: progressReason.waitingForHook, message };
    state.holdUp ??= waiting;
    state.status = notInstalled(state.status, { ...waiting, reportHealth }, clock);
    return 'done';
  }
  const failure = { reason: failureReason(state), message, reportHealth };
  state.status = notInstalled(state.status, failure, clock);
  return { requeueAfter: result.retryAfter };
}
