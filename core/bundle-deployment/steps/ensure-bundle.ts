import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../errors.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { deleteBundle } from '../delete-bundle.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { desiredBundle } from '../desired-bundle.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';
import { templateHash } from '../template-hash.ts';

/** Finds the Bundle of the current template, or makes it (spec section 5.3). */
export async function ensureBundle(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment } = state;
  const hash = templateHash(deployment.spec.template);
  const owned = dependencies.bundles.ownedBy(deployment.metadata.name ?? '');
  const found = owned.find((bundle) => bundle.metadata.labels?.[label.templateHash] === hash);
  if (found !== undefined) {
    state.bundle = found;
    return 'continue';
  }
  try {
    await deleteAbandoned(state, owned, { dependencies, context });
    state.bundle = await createBundle(state, hash, { dependencies, context });
    return 'continue';
  } catch (error) {
    state.status = hasValidBundle(
      state.status,
      {
        status: 'Unknown',
        reason: bundleDeploymentReason.reconcileFailed,
        message: errorMessage(error),
      },
      dependencies.clock,
    );
    throw error;
  }
}

interface Surroundings {
  readonly dependencies: BundleDeploymentDependencies;
  readonly context: StepContext;
}

/** Bundles of earlier templates that never became active have nothing to fall back to. */
async function deleteAbandoned(
  { status }: BundleDeploymentState,
  owned: readonly Bundle[],
  { dependencies, context }: Surroundings,
): Promise<void> {
  for (const bundle of owned) {
    if (bundle.metadata.name === status.activeBundle) continue;
    if (bundle.metadata.deletionTimestamp !== undefined) continue;
    await deleteBundle(dependencies.client, bundle, context.signal);
  }
}

async function createBundle(
  { deployment }: BundleDeploymentState,
  hash: string,
  { dependencies, context }: Surroundings,
): Promise<Bundle> {
  const { client, bundles } = dependencies;
  const desired = desiredBundle(deployment, hash);
  try {
    const created = (await client.create(bundleResource, desired, context.signal)) as Bundle;
    bundles.upsertIfNewer(created);
    return created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return adoptOwn(await client.get(bundleResource, { name: desired.metadata.name ?? '' }), hash);
  }
}

/** The cache may lag behind our own create; a stranger of that name is not taken over. */
function adoptOwn(live: unknown, hash: string): Bundle {
  const bundle = live as Bundle;
  if (bundle.metadata.labels?.[label.templateHash] === hash) return bundle;
  throw new Error(
    `Bundle "${bundle.metadata.name}" exists and was not made for this template; delete or rename it`,
  );
}
