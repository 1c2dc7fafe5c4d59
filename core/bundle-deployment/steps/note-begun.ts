import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

/** Notes what is about to be applied, and where: from here on it may be there in part. */
export async function noteBegun(
  state: BundleDeploymentState,
  { lastApplied, systemNamespace }: ReconcileDependencies,
): Promise<StepOutcome> {
  const { deployment, recipe } = state;
  if (recipe !== undefined) lastApplied.begin(deployment, recipe);
  const installNamespace = installNamespaceOf(deployment, systemNamespace);
  state.status = { ...state.status, installNamespace };
  return 'continue';
}
