import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { hooksOf, isTransient } from '../../apply/index.ts';
import { errorMessage } from '../../errors.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { longestWait } from '../longest-wait.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { loadDeleteHooks } from './delete-content.ts';
import { skipCommand } from './hook-run.ts';
import { type HookEventState, type HookSurroundings, runEvent } from './run-event.ts';

const reason = progressReason.deleting;

/** Runs the hooks before anything of a deployment is deleted: one that fails holds its deletion up. */
export async function runPreDeleteHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  // Everything is deleted already.
  if (state.status.hooks?.run?.event === 'post-delete') return 'continue';
  const result = await runDeleteEvent(state, 'pre-delete', { dependencies, context });
  if (result.state !== 'failed') return outcomeOf(state, result);
  state.holdUp = { reason, message: `deletion waits: ${result.message}` };
  return { requeueAfter: result.retryAfter };
}

/** Runs the hooks once everything is deleted. As in Helm, nothing waits for one that has failed. */
export async function runPostDeleteHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const result = await runDeleteEvent(state, 'post-delete', { dependencies, context });
  if (result.state !== 'failed') return outcomeOf(state, result);
  const why = state.status.hooks?.run?.failure ?? result.message;
  const message = `everything is deleted, though ${why}`;
  dependencies.events.event(state.deployment, { type: 'Warning', reason: 'HookFailed', message });
  return 'continue';
}

function outcomeOf(
  state: BundleDeploymentState,
  result: Exclude<HookEventState, { readonly state: 'failed' }>,
): StepOutcome {
  if (result.state === 'done') return 'continue';
  if (result.state === 'noted') return { requeueAfter: 0 };
  state.holdUp = { reason, message: `deletion is ${result.message}` };
  return 'done';
}

async function runDeleteEvent(
  state: BundleDeploymentState,
  event: 'pre-delete' | 'post-delete',
  surroundings: HookSurroundings,
): Promise<HookEventState> {
  try {
    if (!(await loadDeleteHooks(state, surroundings))) return { state: 'done' };
    const hooks = hooksOf(event, state.hooks ?? []);
    if (hooks.length === 0) return { state: 'done' };
    const { revision = '' } = state;
    return await runEvent(state, { event, revision, hooks }, surroundings);
  } catch (error) {
    if (surroundings.context.signal.aborted) throw error;
    const message = errorMessage(error);
    // What it is for is gone: what the server refuses now, it will refuse the next time too.
    if (event === 'post-delete' && !isTransient(error)) {
      return { state: 'failed', message, retryAfter: 0 };
    }
    const wayOut = `to delete without them: ${skipCommand(state.deployment)}`;
    state.holdUp = {
      reason,
      message: `deletion waits for another try of its hooks: ${message}; ${wayOut}`,
    };
    // What stands in its way may be removed without our seeing it.
    surroundings.context.wakeAfter(longestWait);
    throw new Error(message, { cause: error });
  }
}
