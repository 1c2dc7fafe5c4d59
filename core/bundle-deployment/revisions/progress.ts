import { parseDuration } from '../../../api/duration.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { ProgressStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import type { Clock } from '../../platform/clock.ts';
import { findCondition, timestamp } from '../../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { keepsProgress } from './history.ts';

/** The status when the target is first applied: its deadline counts from here. */
export function withBegun(
  { deployment, status, bundle, target }: BundleDeploymentState,
  dependencies: Pick<BundleDeploymentDependencies, 'clock'>,
  context: Pick<PhaseContext, 'live'>,
): BundleDeploymentStatus {
  const name = target?.metadata.name ?? '';
  if (!keepsProgress(deployment.spec) || status.progress?.bundle === name) return status;
  // The active Bundle that replaces a blocked one is not being rolled out.
  if (target !== bundle && status.rollback?.to !== name) return status;
  return { ...status, progress: startedNow({ bundle: name }, dependencies, context) };
}

/** The status when that Bundle is first healthy; later changes of its health change nothing. */
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

/** The status after a pause: the deadline of an unhealthy Bundle starts again. */
export function withNewStart(
  status: BundleDeploymentStatus,
  dependencies: Pick<BundleDeploymentDependencies, 'clock'>,
  context: Pick<PhaseContext, 'live'>,
): BundleDeploymentStatus {
  const { progress } = status;
  if (progress === undefined || progress.healthyAt !== undefined) return status;
  return { ...status, progress: startedNow(progress, dependencies, context) };
}

function startedNow(
  progress: Omit<ProgressStatus, 'startedAt'>,
  { clock }: Pick<BundleDeploymentDependencies, 'clock'>,
  { live }: Pick<PhaseContext, 'live'>,
): ProgressStatus {
  const started = { ...progress, startedAt: timestamp(clock) };
  live.durations.begin('progress', nameOf(started), clock);
  return started;
}

/** For what the process remembers of it. */
function nameOf({ bundle, startedAt }: ProgressStatus): string {
  return `${bundle} ${startedAt}`;
}

/** The progress of the template's Bundle, when it is applied and not healthy yet. */
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

/**
 * Milliseconds for which a process follows a Bundle before it gives up what an earlier process began:
 * first it has to read content, objects and rules, and the Bundle may have become healthy meanwhile.
 */
const ownLook = 60_000;

/** Milliseconds until the deadline of that many. */
export function timeLeft(
  pending: ProgressStatus,
  deadline: number,
  { live: { durations }, clock }: Pick<PhaseContext, 'live'> & { readonly clock: Clock },
): number {
  const id = nameOf(pending);
  const startedAt = Date.parse(pending.startedAt);
  const taken = durations.of('progress', { id, whole: id, startedAt }, clock);
  const followed = durations.followed('progress', clock);
  return Math.max(deadline - taken, Math.min(deadline, ownLook) - followed);
}

/** Reports a Bundle that is not healthy in time; starts no rollback. */
export function watchProgress(
  state: BundleDeploymentState,
  { clock }: Pick<BundleDeploymentDependencies, 'clock'>,
  { live, wakeAfter }: Pick<PhaseContext, 'live' | 'wakeAfter'>,
): Pick<Found, 'status' | 'blocked'> {
  const { progressDeadline = '' } = state.deployment.spec.health ?? {};
  const pending = pendingProgress(state);
  const deadline = parseDuration(progressDeadline);
  if (pending === undefined || deadline === undefined) return {};
  const left = timeLeft(pending, deadline, { live, clock });
  if (left > 0) {
    wakeAfter(left);
    return {};
  }
  const reason = reasonOf(state, pending.bundle, progressDeadline);
  const blocked = {
    reason: progressReason.progressDeadlineExceeded,
    message: `Bundle "${pending.bundle}" is ${reason}`,
  };
  return { blocked: state.blocked ?? blocked };
}

/** Why a Bundle was not healthy within its deadline, in a few words. */
export function reasonOf(
  { status, blocked }: BundleDeploymentState,
  bundle: string,
  deadline = '',
): string {
  const cause = causeOf(status, bundle) ?? blocked?.message;
  const text = `not healthy within ${deadline}`;
  return cause === undefined ? text : `${text} (${shortened(cause)})`;
}

function causeOf(status: BundleDeploymentStatus, bundle: string): string | undefined {
  const { installed, healthy } = bundleDeploymentCondition;
  const failure = findCondition(status.conditions, installed);
  if (failure?.status === 'False') return failure.message;
  const unhealthy = findCondition(status.conditions, healthy);
  // Until the Bundle is completely applied, the condition is about the one before.
  if (status.activeBundle !== bundle || unhealthy?.status !== 'False') return undefined;
  return unhealthy.message;
}

const longestCause = 500;

function shortened(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= longestCause) return text;
  return `${characters.slice(0, longestCause).join('')} …`;
}
