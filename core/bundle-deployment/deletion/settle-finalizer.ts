import { addFinalizer, removeFinalizer } from '../../runtime/finalizers.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { isOrdered } from './needs-finalizer.ts';
import { writeFinalizer } from './write-finalizer.ts';

/** Adds the finalizer before objects are applied that the garbage collector will not find. */
export async function settleFinalizer(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  state.ordered = isOrdered(state, dependencies);
  if (state.ordered) await writeFinalizer(state, addFinalizer, { dependencies, context });
  return 'continue';
}

/** Takes the finalizer away once all objects are the garbage collector's: a deletion costs nothing then. */
export async function dropFinalizer(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { name = '' } = state.deployment.metadata;
  if (state.ordered === false && !dependencies.applier.holdsUnreferenced(name)) {
    await writeFinalizer(state, removeFinalizer, { dependencies, context });
  }
  return 'continue';
}
