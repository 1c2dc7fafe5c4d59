import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { finalizer } from '../../../api/v1alpha1/labels.ts';
import { addFinalizer } from '../../runtime/finalizers.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { writeFinalizer } from './write-finalizer.ts';

/**
 * Guards what is installed already: by RukPak, or before a backup was restored. First of all steps: it
 * may be deleted while its Bundle is slow or broken.
 */
export async function guardDeletion(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { activeBundle = '' } = state.status;
  return activeBundle === '' ? 'continue' : await guardObjects(state, dependencies, context);
}

/** Adds the finalizer before anything is applied: nobody but core is to delete what core applies. */
export async function guardObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  await writeFinalizer(state, addFinalizer, { dependencies, context });
  return 'continue';
}

export function hasFinalizer({ metadata }: BundleDeployment): boolean {
  return metadata.finalizers?.includes(finalizer.deleteObjects) === true;
}
