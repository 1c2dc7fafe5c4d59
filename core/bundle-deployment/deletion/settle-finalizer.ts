import { annotatedStage } from '../../apply/stage-of.ts';
import { addFinalizer, removeFinalizer } from '../../runtime/finalizers.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { needsFinalizer } from './needs-finalizer.ts';
import { writeFinalizer } from './write-finalizer.ts';

/**
 * Adds the finalizer before objects with stages are applied, and takes it away where nothing asks for
 * it any more: then a deletion costs no request.
 */
export async function settleFinalizer(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment, objects = [] } = state;
  const isStaged = objects.some((object) => annotatedStage(object) !== undefined);
  const write =
    isStaged || needsFinalizer(deployment, dependencies) ? addFinalizer : removeFinalizer;
  await writeFinalizer(state, write, { dependencies, context });
  return 'continue';
}
