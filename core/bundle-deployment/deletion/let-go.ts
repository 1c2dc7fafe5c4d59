import { removeFinalizer } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { writeFinalizer } from './write-finalizer.ts';

/** Lets the deployment go: nothing is left to do for it. */
export async function letGo(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  await writeFinalizer(state, removeFinalizer, { dependencies, context });
  return 'done';
}
