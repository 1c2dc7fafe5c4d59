import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { errorMessage } from '../../errors.ts';
import { deleteBundle } from '../delete-bundle.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { ownBundles } from '../own-bundles.ts';
import { isRevision } from '../revisions/history.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';

/** Deletes the Bundles of earlier templates, once the current one has taken over. */
export async function retireBundles(
  state: BundleDeploymentState,
  { bundles, client }: BundleDeploymentDependencies,
  { signal }: StepContext,
): Promise<StepOutcome> {
  const { deployment, bundle, target } = state;
  if (target !== bundle) return 'done';
  for (const old of ownBundles(deployment, bundles)) {
    if (!isRetired(old, state)) continue;
    try {
      await deleteBundle(client, old, signal);
    } catch (error) {
      throw new Error(`failed to delete old bundles: ${errorMessage(error)}`, { cause: error });
    }
  }
  return 'done';
}

function isRetired(old: Bundle, { bundle, status }: BundleDeploymentState): boolean {
  if (old.metadata.name === bundle?.metadata.name) return false;
  return old.metadata.deletionTimestamp === undefined && !isRevision(old, status);
}
