import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { templateHash } from '../../../api/v1alpha1/template-hash.ts';
import { errorMessage } from '../../errors.ts';
import { adoptBundle } from '../adopt-bundle.ts';
import { keepMark } from '../configured-mark.ts';
import { createBundle } from '../create-bundle.ts';
import { deleteBundle } from '../delete-bundle.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { isMadeFrom } from '../is-made-from.ts';
import { ownBundles } from '../own-bundles.ts';
import { isRevision } from '../revisions/history.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';

/** Finds the Bundle of the current template, or makes it. */
export async function ensureBundle(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment } = state;
  const hash = templateHash(deployment.spec.template);
  const labelled = dependencies.bundles.ownedBy(deployment.metadata.name ?? '');
  const found = labelled.find((bundle) => isMadeFrom(bundle, deployment, hash));
  const { signal } = context;
  const surroundings = { dependencies, signal };
  try {
    if (found !== undefined) {
      const own = await adoptBundle(found, deployment, surroundings);
      state.bundle = await keepMark(own, deployment, surroundings);
      await adoptRevisions(state, labelled, surroundings);
      return 'continue';
    }
    await deleteAbandoned(state, { dependencies, context });
    state.bundle = await createBundle(deployment, dependencies, context);
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

/**
 * Earlier Bundles that the status names lose their owner in a backup. Only those whose content is what
 * their name stands for: anybody may create a Bundle of that name.
 */
async function adoptRevisions(
  { deployment, status }: BundleDeploymentState,
  labelled: readonly Bundle[],
  surroundings: Parameters<typeof adoptBundle>[2],
): Promise<void> {
  for (const bundle of labelled) {
    const hash = bundle.metadata.labels?.[label.templateHash] ?? '';
    const isNamed = bundle.metadata.name === status.activeBundle || isRevision(bundle, status);
    if (!isNamed || !isMadeFrom(bundle, deployment, hash)) continue;
    await adoptBundle(bundle, deployment, surroundings);
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
  { deployment, status }: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<void> {
  const owned = ownBundles(deployment, dependencies.bundles);
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
