import { addFinalizer } from '../../runtime/finalizers.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { needsFinalizer } from './needs-finalizer.ts';
import { writeFinalizer } from './write-finalizer.ts';

/**
 * Sees to it that the garbage collector is not quicker than what the deployment asks for. First of
 * all steps: it may be deleted while its Bundle is slow or broken.
 */
export async function guardDeletion(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  if (needsFinalizer(state.deployment, dependencies)) {
    await writeFinalizer(state, addFinalizer, { dependencies, context });
  }
  return 'continue';
}
