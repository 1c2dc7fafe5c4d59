import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

/** Notes what is about to be applied: from here on it may be there in part. */
export async function noteBegun(
  { deployment, recipe }: BundleDeploymentState,
  { lastApplied }: ReconcileDependencies,
): Promise<StepOutcome> {
  if (recipe !== undefined) lastApplied.begin(deployment, recipe);
  return 'continue';
}
