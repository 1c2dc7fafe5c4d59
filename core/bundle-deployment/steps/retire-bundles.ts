import { errorMessage } from '../../errors.ts';
import { deleteBundle } from '../delete-bundle.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';

/** Deletes the Bundles of earlier templates, once the current one has taken over (section 5.4). */
export async function retireBundles(
  { deployment, bundle, target }: BundleDeploymentState,
  { bundles, client }: BundleDeploymentDependencies,
  { signal }: StepContext,
): Promise<StepOutcome> {
  if (target !== bundle) return 'done';
  for (const old of bundles.ownedBy(deployment.metadata.name ?? '')) {
    if (old.metadata.name === bundle?.metadata.name) continue;
    if (old.metadata.deletionTimestamp !== undefined) continue;
    try {
      await deleteBundle(client, old, signal);
    } catch (error) {
      throw new Error(`failed to delete old bundles: ${errorMessage(error)}`, { cause: error });
    }
  }
  return 'done';
}
