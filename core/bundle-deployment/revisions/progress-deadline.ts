import { parseDuration } from '../../../api/duration.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';
import { pendingProgress } from './progress.ts';
import { reasonOf } from './rollback.ts';

/** Says so where a Bundle is not healthy in time; nothing is given up for that. */
export function watchProgress(
  state: BundleDeploymentState,
  { clock }: Pick<BundleDeploymentDependencies, 'clock'>,
  { wakeAfter }: Pick<StepContext, 'wakeAfter'>,
): void {
  const { progressDeadline = '' } = state.deployment.spec.health ?? {};
  const pending = pendingProgress(state);
  const deadline = parseDuration(progressDeadline);
  if (pending === undefined || deadline === undefined) return;
  const left = Date.parse(pending.startedAt) + deadline - clock.now();
  if (left > 0) {
    wakeAfter(left);
    return;
  }
  const reason = reasonOf(state, pending.bundle, progressDeadline);
  state.holdUp ??= {
    reason: progressReason.progressDeadlineExceeded,
    message: `Bundle "${pending.bundle}" is ${reason}`,
  };
}
