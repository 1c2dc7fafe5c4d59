import { TerminalError, WaitingError } from '../../errors.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { hasBegun } from '../has-begun.ts';
import { fallBack } from '../hold-up.ts';
import { LostContentError } from '../lost-content-error.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { loadObjects } from './load-objects.ts';

/**
 * Loads the target. Where nothing can be made of a new Bundle, or not yet, what is installed is
 * kept in place meanwhile, with its certificates; the reconcile fails all the same, at its end.
 */
export async function loadOrKeepActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  try {
    return await loadObjects(state, dependencies, context);
  } catch (failure) {
    if (!isOfContent(failure) || !standsIn(state, dependencies)) throw failure;
    state.failure = failure;
    try {
      return await loadObjects(state, dependencies, context);
    } catch {
      // What is wrong with the new one is what is told, whatever is with this one.
      throw failure;
    }
  }
}

function isOfContent(error: unknown): error is Error {
  if (error instanceof LostContentError) return false;
  return error instanceof TerminalError || error instanceof WaitingError;
}

/** Makes the active Bundle the target where it is another one, of which nothing is replaced yet. */
function standsIn(state: BundleDeploymentState, dependencies: ReconcileDependencies): boolean {
  const { bundle, target, deployment } = state;
  if (target !== bundle || hasBegun(deployment)) return false;
  if (bundle?.metadata.name === state.status.activeBundle) return false;
  return fallBack(state, dependencies) === 'continue';
}
