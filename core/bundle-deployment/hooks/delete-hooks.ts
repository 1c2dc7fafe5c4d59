import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { hooksOf, isTransient } from '../../apply/index.ts';
import { errorMessage } from '../../errors.ts';
import { ownBundle } from '../bundles.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  longestWait,
  type StepContext,
  type StepOutcome,
} from '../phase.ts';
import { policyInForce } from '../phases/deletion-policy.ts';
import { loadObjects } from '../rendering/load-objects.ts';
import { skipsHooks } from './deploy-hooks.ts';
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

/** The API server's, while the garbage collector deletes everything of the deployment first. */
const foregroundDeletion = 'foregroundDeletion';

/**
 * Has the hooks of a deletion in the state where there are any to run; says whether there are.
 * Nothing is asked for where the deployment has none. What cannot be had any more is told of, and
 * given up: the deletion must come to an end.
 */
async function loadDeleteHooks(
  state: BundleDeploymentState,
  { dependencies, context }: HookSurroundings,
): Promise<boolean> {
  if (state.status.hooks?.onDelete === undefined) return false;
  const { deployment } = state;
  const policy = await policyInForce(deployment, dependencies, context.signal);
  // What stays goes on working: it is not to be taken down.
  if (policy === 'Orphan' || policy === 'Abandon' || skipsHooks(state)) return forgetHooks(state);
  const active = activeBundle(state, dependencies);
  const why = whyNot(state, active);
  if (active === undefined || why !== undefined) {
    const message = `the hooks of the deletion do not run: ${why}`;
    dependencies.events.event(deployment, { type: 'Warning', reason: 'HooksSkipped', message });
    return forgetHooks(state);
  }
  state.target = active;
  const { status } = state;
  try {
    await loadObjects(state, dependencies, context);
  } finally {
    // What it says of the Bundle is no news any more.
    state.status = status;
  }
  return true;
}

function whyNot(
  { deployment, status }: BundleDeploymentState,
  active: Bundle | undefined,
): string | undefined {
  if (deployment.metadata.finalizers?.includes(foregroundDeletion) === true) {
    return 'it is deleted in the foreground, which deletes its Bundles and every object of a hook first';
  }
  return active === undefined
    ? `Bundle "${status.activeBundle}", which has them, is gone`
    : undefined;
}

function activeBundle(
  { deployment, status }: BundleDeploymentState,
  { bundles }: Pick<ReconcileDependencies, 'bundles'>,
): Bundle | undefined {
  const active = ownBundle(deployment, status.activeBundle, bundles);
  return active?.metadata.deletionTimestamp === undefined ? active : undefined;
}

/** So that what was decided once is not asked again. */
function forgetHooks(state: BundleDeploymentState): false {
  const { hooks: _, ...status } = state.status;
  state.status = status;
  return false;
}
