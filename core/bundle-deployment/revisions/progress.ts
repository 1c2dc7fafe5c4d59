import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { ProgressStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import type { Clock } from '../../platform/clock.ts';
import { timestamp } from '../../platform/runtime/index.ts';
import type { BundleDeploymentState } from '../state.ts';
import { keepsProgress } from './policy.ts';

/** The status once the target is applied for the first time: its deadline is counted from here. */
export function withBegun(
  { deployment, status, bundle, target }: BundleDeploymentState,
  clock: Clock,
): BundleDeploymentStatus {
  const name = target?.metadata.name ?? '';
  if (!keepsProgress(deployment.spec) || status.progress?.bundle === name) return status;
  // The active Bundle is not brought out again where it stands in for one that is held up.
  if (target !== bundle && status.rollback?.to !== name) return status;
  return { ...status, progress: { bundle: name, startedAt: timestamp(clock) } };
}

/** The status once that Bundle is healthy; later turns of its health change nothing. */
export function withArrived(status: BundleDeploymentStatus, clock: Clock): BundleDeploymentStatus {
  const { progress } = status;
  if (progress === undefined || progress.healthyAt !== undefined) return status;
  const healthyAt = timestamp(clock);
  const seconds = (Date.parse(healthyAt) - Date.parse(progress.startedAt)) / 1000;
  return {
    ...status,
    progress: { ...progress, healthyAt, secondsToHealthy: Math.max(0, seconds) },
  };
}

/** The status after a pause: a Bundle that is not healthy yet has its whole time again. */
export function withNewStart(status: BundleDeploymentStatus, clock: Clock): BundleDeploymentStatus {
  const { progress } = status;
  if (progress === undefined || progress.healthyAt !== undefined) return status;
  return { ...status, progress: { ...progress, startedAt: timestamp(clock) } };
}

/** How far the template's Bundle is, where it was applied and is not healthy yet. */
export function pendingProgress({
  deployment,
  bundle,
  status,
}: BundleDeploymentState): ProgressStatus | undefined {
  const { progress, rollback } = status;
  if (deployment.spec.paused === true || rollback !== undefined) return undefined;
  if (progress?.bundle !== bundle?.metadata.name || progress?.healthyAt !== undefined) {
    return undefined;
  }
  return progress;
}
