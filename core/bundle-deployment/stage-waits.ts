import { bundleDeploymentCondition } from '../../api/v1alpha1/conditions.ts';
import { findCondition } from '../runtime/conditions.ts';
import type { BundleDeploymentState } from './state.ts';

/**
 * Whether stages wait until the one before is ready: where that is asked for and something new is
 * brought out. What is installed is repaired at once, in this process or a later one.
 */
export function stagesWait({ deployment, target }: BundleDeploymentState): boolean {
  const { spec, status, metadata } = deployment;
  if (spec.stages?.waitForReady !== true) return false;
  const isInstalled =
    status?.activeBundle === target?.metadata.name &&
    // The config is part of what is brought out, and changes without another Bundle.
    status?.observedGeneration === metadata.generation &&
    findCondition(status?.conditions, bundleDeploymentCondition.installed)?.status === 'True';
  return !isInstalled;
}
