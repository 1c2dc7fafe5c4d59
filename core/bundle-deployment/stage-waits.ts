import { bundleDeploymentCondition } from '../../api/v1alpha1/conditions.ts';
import { findCondition } from '../platform/runtime/index.ts';
import type { BundleDeploymentState } from './state.ts';

/**
 * Whether stages wait until the one before is ready: where that is asked for and something new is
 * brought out. What is installed is repaired at once, in this process or a later one, and what was
 * healthy before is gone back to at once: a later stage may have broken an earlier one.
 */
export function stagesWait(
  state: Pick<BundleDeploymentState, 'deployment' | 'status' | 'target' | 'kept'>,
): boolean {
  const { deployment, status, target } = state;
  if (deployment.spec.stages?.waitForReady !== true) return false;
  const isWayBack = target !== undefined && status.rollback?.to === target.metadata.name;
  return !isWayBack && state.kept !== true && !isInstalled(state);
}

function isInstalled({
  deployment: { status, metadata },
  target,
}: Pick<BundleDeploymentState, 'deployment' | 'target'>): boolean {
  return (
    status?.activeBundle === target?.metadata.name &&
    // The config is part of what is brought out, and changes without another Bundle.
    status?.observedGeneration === metadata.generation &&
    findCondition(status?.conditions, bundleDeploymentCondition.installed)?.status === 'True'
  );
}
