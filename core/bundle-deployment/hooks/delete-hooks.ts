import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { hooksOf, isTransient } from '../../apply/index.ts';
import { errorMessage } from '../../errors.ts';
import { timestamp } from '../../platform/runtime/index.ts';
import { ownBundle } from '../bundles.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  longestWait,
  type PhaseContext,
  type Surroundings,
} from '../phase.ts';
import { policyInForce } from '../phases/deletion-policy.ts';
import { loadObjects } from '../rendering/load-objects.ts';
import { skipsHooks } from './deploy-hooks.ts';
import { skipCommand, withRun } from './hook-run.ts';
import { type HookEventState, runEvent } from './run-event.ts';

const reason = progressReason.deleting;

/**
 * Runs the hooks before core deletes any object of a deployment: a failed hook blocks the deletion.
 * Their end is written into the status before the first object is deleted: from then on the class
 * may render others, because CRDs or inputs are gone, and a second backup would be an empty one.
 */
export async function runPreDeleteHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { run: before } = state.status.hooks ?? {};
  // Objects are being deleted, or all are deleted.
  if (before?.finishedAt !== undefined || before?.event === 'post-delete') return {};
  const { found, result } = await runDeleteEvent(state, 'pre-delete', { dependencies, context });
  if (result === undefined) return found;
  if (result.state === 'done') return { ...found, ...noteFinished(found, dependencies) };
  if (result.state !== 'failed') return { ...found, ...outcomeOf(result) };
  const blocked = { reason, message: `deletion is blocked: ${result.message}` };
  return { ...found, blocked, requeueAfter: result.retryAfter };
}

/** Nothing to note without hooks of the event. */
function noteFinished({ status }: Found, { clock }: Pick<ReconcileDependencies, 'clock'>): Found {
  const run = status?.hooks?.run;
  if (status === undefined || run?.event !== 'pre-delete') return {};
  return { status: withRun(status, { ...run, finishedAt: timestamp(clock) }), requeueAfter: 0 };
}

/** Runs the hooks after all objects are deleted. As in Helm, a failed one blocks nothing. */
export async function runPostDeleteHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { found, result } = await runDeleteEvent(state, 'post-delete', { dependencies, context });
  if (result === undefined) return found;
  if (result.state !== 'failed') return { ...found, ...outcomeOf(result) };
  const { hooks } = found.status ?? state.status;
  const message = `Core completes the deletion, although ${hooks?.run?.failure ?? result.message}. Core does not retry the hook`;
  dependencies.events.event(state.deployment, { type: 'Warning', reason: 'HookFailed', message });
  return found;
}

function outcomeOf(result: Exclude<HookEventState, { readonly state: 'failed' }>): Found {
  if (result.state === 'done') return {};
  if (result.state === 'noted') return { requeueAfter: 0 };
  return { blocked: { reason, message: `deletion is blocked: ${result.message}` }, done: true };
}

/** The result of the event; without one when the reconcile ends with an error. */
async function runDeleteEvent(
  state: BundleDeploymentState,
  event: 'pre-delete' | 'post-delete',
  { dependencies, context }: Surroundings,
): Promise<{ readonly found: Found; readonly result?: HookEventState }> {
  try {
    const { hasHooks, ...found } = await loadDeleteHooks(state, { dependencies, context });
    const loaded = { ...state, ...found };
    const hooks = hasHooks ? hooksOf(event, loaded.hooks ?? []) : [];
    if (hooks.length === 0) return { found, result: { state: 'done' } };
    const request = { event, revision: revisionOf(loaded), hooks };
    const { status = loaded.status, ...result } = await runEvent(loaded, request, {
      dependencies,
      context,
    });
    return { found: { ...found, status }, result };
  } catch (cause) {
    if (context.signal.aborted) throw cause;
    const message = errorMessage(cause);
    // The namespace or kind of the hook may be deleted, so a refusal is final.
    if (event === 'post-delete' && !isTransient(cause)) {
      return { found: {}, result: { state: 'failed', message, retryAfter: 0 } };
    }
    const wayOut = `to delete without them: ${skipCommand(state.deployment)}`;
    const why = `deletion failed, core retries its hooks: ${message}; ${wayOut}`;
    // Core gets no event when the obstacle is removed.
    context.wakeAfter(longestWait);
    return { found: { blocked: { reason, message: why }, error: new Error(message, { cause }) } };
  }
}

/**
 * The hooks after everything is deleted keep the revision with which they have begun: what the class
 * renders then may lack CRDs and inputs, and must not start them again.
 */
function revisionOf({ status, revision = '' }: BundleDeploymentState): string {
  const { run } = status.hooks ?? {};
  return run?.event === 'post-delete' ? run.revision : revision;
}

/**
 * Finalizer of the API server while the garbage collector first deletes all dependents of the
 * deployment.
 */
const foregroundDeletion = 'foregroundDeletion';

interface DeleteHooks extends Pick<Found, 'status' | 'target' | 'objects' | 'hooks' | 'revision'> {
  readonly hasHooks: boolean;
}

/**
 * Loads the hooks of a deletion, if there are any. Sends no request when the deployment has none.
 * Reports hooks that can no longer be loaded and gives them up, so that the deletion can end.
 */
async function loadDeleteHooks(
  state: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<DeleteHooks> {
  const { deployment, status } = state;
  if (status.hooks?.onDelete === undefined) return { hasHooks: false };
  const policy = await policyInForce(deployment, dependencies, context.signal);
  // Orphaned objects keep working: their pre-delete hooks must not stop them.
  if (policy === 'Orphan' || policy === 'Abandon' || skipsHooks(state))
    return forgottenHooks(state);
  const target = activeBundle(state, dependencies);
  const why = whyNot(state, target);
  if (target === undefined || why !== undefined) {
    const message = `Core skips the hooks of this deletion: ${why}`;
    dependencies.events.event(deployment, { type: 'Warning', reason: 'HooksSkipped', message });
    return forgottenHooks(state);
  }
  const loaded = await loadObjects({ ...state, target }, dependencies, context);
  if ('error' in loaded) throw loaded.error;
  return { ...loaded, target, hasHooks: true };
}

function whyNot(
  { deployment, status }: BundleDeploymentState,
  active: Bundle | undefined,
): string | undefined {
  if (deployment.metadata.finalizers?.includes(foregroundDeletion) === true) {
    return '--cascade=foreground deletes its Bundles and the objects of hooks first. To run hooks, delete with --cascade=background, the default';
  }
  return active === undefined
    ? `Bundle "${status.activeBundle}", which contains them, no longer exists`
    : undefined;
}

function activeBundle(
  { deployment, status }: BundleDeploymentState,
  { bundles }: Pick<ReconcileDependencies, 'bundles'>,
): Bundle | undefined {
  const active = ownBundle(deployment, status.activeBundle, bundles);
  return active?.metadata.deletionTimestamp === undefined ? active : undefined;
}

/** Records the decision, so that the next reconcile does not repeat it. */
function forgottenHooks(state: BundleDeploymentState): DeleteHooks {
  const { hooks: _, ...status } = state.status;
  return { status, hasHooks: false };
}
