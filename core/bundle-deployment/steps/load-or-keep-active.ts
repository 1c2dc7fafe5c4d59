import { TerminalError, WaitingError } from '../../errors.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { hasBegun } from '../has-begun.ts';
import { fallBack, keptBundle } from '../hold-up.ts';
import { longestWait } from '../longest-wait.ts';
import { LostContentError } from '../lost-content-error.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { loadLastApplied } from './load-last-applied.ts';
import { loadObjects } from './load-objects.ts';

/**
 * Loads the target. Where nothing can be made of it, or not yet, what is installed is kept in place
 * meanwhile, with its certificates; the reconcile fails all the same, at its end.
 */
export async function loadOrKeepActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  if (state.keepOnly === true) {
    return (await loadLastApplied(state, dependencies, context)) ? 'continue' : 'done';
  }
  try {
    return await loadObjects(state, dependencies, context);
  } catch (failure) {
    if (!(failure instanceof Error) || context.signal.aborted) throw failure;
    state.failure = failure;
    // An input that was missing or refused, or a class that was away: nobody tells when that is over.
    if (!isOfContent(failure)) context.wakeAfter(longestWait);
    if (await keepsActive(state, dependencies, context)) return 'continue';
    throw failure;
  }
}

/** What is wrong with the new one is what is told, whatever is with this one. */
async function keepsActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<boolean> {
  if (isOfContent(state.failure) && standsIn(state, dependencies)) {
    const loaded = await loadObjects(state, dependencies, context).catch(() => undefined);
    if (loaded !== undefined) return true;
  }
  return await loadLastApplied(state, dependencies, context).catch(() => false);
}

function isOfContent(error: unknown): boolean {
  if (error instanceof LostContentError) return false;
  return error instanceof TerminalError || error instanceof WaitingError;
}

/** Makes the active Bundle the target where it is another one, of which nothing is replaced yet. */
function standsIn(state: BundleDeploymentState, dependencies: ReconcileDependencies): boolean {
  const { bundle, target } = state;
  if (bundle === undefined || target !== bundle) return false;
  const isSame = bundle.metadata.name === state.status.activeBundle;
  if (isSame && keptBundle(state, dependencies.bundles) === undefined) return false;
  if (fallBack(state, dependencies) === 'done') return false;
  if (!isReplaced(state, dependencies)) return true;
  state.target = bundle;
  return false;
}

/** A process that has applied all of it knows; another one goes by what the status says. */
function isReplaced(
  { deployment, target }: BundleDeploymentState,
  { lastApplied }: ReconcileDependencies,
): boolean {
  if (target !== undefined && lastApplied.get(deployment, target) !== undefined) return false;
  return hasBegun(deployment);
}
