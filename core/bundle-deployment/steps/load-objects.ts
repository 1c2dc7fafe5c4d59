import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
} from '../../../api/v1alpha1/conditions.ts';
import type { BundleDeployment, BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import { errorMessage, WaitingError } from '../../errors.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { takeRendering } from '../hooks/take-rendering.ts';
import { LostContentError } from '../lost-content-error.ts';
import { render } from '../render.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';

/** Lets the classes of Bundle and deployment turn the stored content into objects. */
export async function loadObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  try {
    await takeRendering(state, await render(state, dependencies, context), context);
    return 'continue';
  } catch (error) {
    // Waiting makes no valid bundle invalid, nor does what is wrong with another one.
    if (isNoNews(error, state) || state.target !== state.bundle) throw error;
    state.status = hasValidBundle(
      state.status,
      {
        status: 'False',
        reason: bundleDeploymentReason.bundleLoadFailed,
        message: errorMessage(error),
      },
      dependencies.clock,
    );
    throw error;
  }
}

/**
 * Content comes back by itself. What a class waits for is told, unless it made objects of the very
 * same before, which are installed.
 */
function isNoNews(error: unknown, { deployment, status, target }: BundleDeploymentState): boolean {
  if (error instanceof LostContentError) return isValid(status);
  if (!(error instanceof WaitingError)) return false;
  return isInstalled(deployment) && deployment.status?.activeBundle === target?.metadata.name;
}

function isInstalled({ metadata, status = {} }: BundleDeployment): boolean {
  return status.observedGeneration === metadata.generation && isValid(status);
}

function isValid({ conditions }: BundleDeploymentStatus): boolean {
  const { hasValidBundle: type } = bundleDeploymentCondition;
  return findCondition(conditions, type)?.status === 'True';
}
