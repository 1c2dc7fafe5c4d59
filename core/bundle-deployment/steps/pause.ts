import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { withNewStart } from '../revisions/progress.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { checkHealth } from './check-health.ts';

/** Ends the reconcile of a paused deployment; the health of what is installed goes on being told. */
export async function pause(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment, status } = state;
  const { name = '' } = deployment.metadata;
  if (deployment.spec.paused !== true) {
    if (isPaused(state)) state.status = withNewStart(status, dependencies.clock);
    return 'continue';
  }
  state.holdUp = {
    reason: progressReason.paused,
    message: `spec.paused is true: nothing in the cluster is changed for it; go on with "rukpakctl resume ${name}"`,
  };
  // A process that has not applied anything yet knows of no object whether it is healthy.
  if (!isInstalled(state) || !dependencies.applier.knows(name)) return 'done';
  const outcome = await checkHealth(state, dependencies, context);
  return outcome === 'continue' ? 'done' : outcome;
}

function isPaused({ status }: BundleDeploymentState): boolean {
  const { progressing } = bundleDeploymentCondition;
  return findCondition(status.conditions, progressing)?.reason === progressReason.paused;
}

function isInstalled({ status }: BundleDeploymentState): boolean {
  return findCondition(status.conditions, bundleDeploymentCondition.installed)?.status === 'True';
}
