import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { finalizer, label } from '../../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../errors.ts';
import { isAlreadyExists } from '../../kube/api-error.ts';
import { deleteBundle } from '../delete-bundle.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { desiredBundle } from '../desired-bundle.ts';
import { isRevision } from '../revisions/history.ts';
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

/**
 * Bundles of earlier templates that never became active have nothing to fall back to. Those that are
 * older than the active one were active themselves, and stay until it is healthy.
 */
async function deleteAbandoned(
  { status }: BundleDeploymentState,
  owned: readonly Bundle[],
  { dependencies, context }: Surroundings,
): Promise<void> {
  const active = owned.find(({ metadata }) => metadata.name === status.activeBundle);
  for (const bundle of owned) {
    if (active !== undefined && madeAt(bundle) <= madeAt(active)) continue;
    if (bundle.metadata.deletionTimestamp !== undefined) continue;
    if (isRevision(bundle, status)) continue;
    await deleteBundle(dependencies.client, bundle, context.signal);
  }
}

/** Milliseconds; the API server knows whole seconds. */
function madeAt({ metadata }: Bundle): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

async function createBundle(
  { deployment }: BundleDeploymentState,
  hash: string,
  { dependencies, context }: Surroundings,
): Promise<Bundle> {
  const { client, bundles } = dependencies;
  const { signal } = context;
  const desired = withFinalizer(desiredBundle(deployment, hash), dependencies);
  try {
    const created = (await client.create(bundleResource, desired, signal)) as Bundle;
    bundles.upsertIfNewer(created);
    return created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const key = { name: desired.metadata.name ?? '' };
    return adoptOwn((await client.get(bundleResource, key, signal)) as Bundle, desired);
  }
}

/** Its reconciler would add it, with a request of its own; where that one is another process, it may not run. */
function withFinalizer(
  bundle: Bundle,
  { bundleClasses }: Pick<BundleDeploymentDependencies, 'bundleClasses'>,
): Bundle {
  if (!bundleClasses.has(bundle.spec.provisionerClassName)) return bundle;
  const finalizers = [finalizer.deleteCachedBundle];
  return { ...bundle, metadata: { ...bundle.metadata, finalizers } };
}

/** The cache may lag behind our own create; a stranger of that name is not taken over. */
function adoptOwn(live: Bundle, desired: Bundle): Bundle {
  const own = [label.ownerKind, label.ownerName, label.templateHash].every(
    (name) => live.metadata.labels?.[name] === desired.metadata.labels?.[name],
  );
  if (own) return live;
  throw new Error(
    `Bundle "${live.metadata.name}" exists and was not made for this template: delete it, or give the BundleDeployment another name`,
  );
}
