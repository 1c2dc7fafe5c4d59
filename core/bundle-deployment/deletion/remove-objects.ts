import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { RemoveResult } from '../../contracts/applier.ts';
import { errorMessage } from '../../errors.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { longestWait } from '../longest-wait.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { policyInForce } from './policy-in-force.ts';

const reason = progressReason.deleting;

/** Most objects are gone in a moment: a status that says so would only cost a request. */
const announceAfter = 2_000;

/**
 * Has the objects removed, and goes on when they are. Events of the objects wake it while it waits
 * for them.
 */
export async function removeObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { clock } = dependencies;
  const { waitsFor } = await remove(state, dependencies, context);
  if (waitsFor === undefined) return 'continue';
  const waited = clock.monotonic() - waitsFor.since;
  if (waited < announceAfter && !isTold(state)) return { requeueAfter: announceAfter - waited };
  state.holdUp = { reason, message: waitsFor.message };
  return 'done';
}

async function remove(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal, wakeAfter }: StepContext,
): Promise<RemoveResult> {
  try {
    const policy = await policyInForce(state.deployment, dependencies, signal);
    if (policy === 'Abandon') return {};
    return await dependencies.applier.remove({ owner: state.deployment, policy, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    const message = `deletion waits for another try: ${errorMessage(error)}`;
    state.holdUp = { reason, message };
    // What the server refused now, it may take later, without our seeing why.
    wakeAfter(longestWait);
    throw new Error(message, { cause: error });
  }
}

function isTold({ status }: BundleDeploymentState): boolean {
  const { progressing } = bundleDeploymentCondition;
  return findCondition(status.conditions, progressing)?.reason === reason;
}
