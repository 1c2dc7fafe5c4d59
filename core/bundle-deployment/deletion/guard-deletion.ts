import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { finalizer } from '../../../api/v1alpha1/labels.ts';
import { applySetKey } from '../../apply/index.ts';
import { addFinalizer } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { writeFinalizer } from './write-finalizer.ts';

/**
 * Guards what core has applied already, where the finalizer was lost, as by a backup that left it out.
 * First of all steps: the deployment may be deleted while its Bundle is slow or broken. What RukPak
 * installed goes by its ownerReferences until core has applied it: no mark says of which kinds it is.
 * The first time the applier adds the finalizer, with the marks.
 */
export async function guardDeletion(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  if (state.deployment.metadata.labels?.[applySetKey.id] !== undefined) {
    await writeFinalizer(state, addFinalizer, { dependencies, context });
  }
  return 'continue';
}

export function hasFinalizer({ metadata }: BundleDeployment): boolean {
  return metadata.finalizers?.includes(finalizer.deleteObjects) === true;
}
