import { parseDuration } from '../../../api/duration.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { ProgressStatus, RollbackStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import type { Blocked } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import { findCondition, timestamp } from '../../platform/runtime/index.ts';
import { ownBundles } from '../bundles.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import {
  type History,
  keepsProgress,
  lastHealthy,
  rollbackDeadline,
  withRolledBack,
} from './history.ts';

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
function pendingProgress({
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

/** Says so where a Bundle is not healthy in time; nothing is given up for that. */
export function watchProgress(
  state: BundleDeploymentState,
  { clock }: Pick<BundleDeploymentDependencies, 'clock'>,
  { wakeAfter }: Pick<PhaseContext, 'wakeAfter'>,
): Pick<Found, 'status' | 'blocked'> {
  const { progressDeadline = '' } = state.deployment.spec.health ?? {};
  const pending = pendingProgress(state);
  const deadline = parseDuration(progressDeadline);
  if (pending === undefined || deadline === undefined) return {};
  const left = Date.parse(pending.startedAt) + deadline - clock.now();
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

/**
 * Gives the template's Bundle up where its time is over, whatever the reconcile came to. The
 * decision is only written here; the next reconcile acts on it, in this process or another one.
 */
export function watchDeadline(
  state: BundleDeploymentState,
  { bundles, clock }: Pick<BundleDeploymentDependencies, 'bundles' | 'clock'>,
  { wakeAfter }: Pick<PhaseContext, 'wakeAfter'>,
): Pick<Found, 'status' | 'blocked'> {
  const pending = pendingProgress(state);
  const deadline = rollbackDeadline(state.deployment.spec);
  if (pending === undefined || deadline === undefined) return {};
  const left = Date.parse(pending.startedAt) + deadline - clock.now();
  if (left > 0) {
    wakeAfter(left);
    return {};
  }
  const { deployment, status } = state;
  const from = pending.bundle;
  const reason = reasonOf(state, from, deployment.spec.rollback?.deadline);
  const { history = [] } = status;
  const to = wayBack(history, from, ownBundles(deployment, bundles));
  if (to === undefined) return { blocked: noWayBack(from, reason) };
  const at = timestamp(clock);
  const rollback = { from, to, reason, at };
  wakeAfter(0);
  return {
    status: { ...status, rollback, history: [...withRolledBack(history, from, at)] },
    blocked: rolledBack(deployment, rollback),
  };
}

/** The Bundle to go back to from another one: the last healthy one that still is there. */
function wayBack(history: History, from: string, owned: readonly Bundle[]): string | undefined {
  const present = new Set(owned.filter(isUsable).map(({ metadata }) => metadata.name));
  return lastHealthy(
    history.filter(({ bundle }) => present.has(bundle)),
    from,
  )?.bundle;
}

/** What condition Progressing says while a rollback is in force. */
export function rolledBack({ metadata }: BundleDeployment, rollback: RollbackStatus): Blocked {
  const { from, to, reason, at } = rollback;
  return {
    reason: progressReason.rolledBack,
    message:
      `Bundle "${to}" is back since ${at}, because "${from}" was ${reason}. ` +
      `"${from}" is not tried again: change spec.template, make it permanent with ` +
      `"rukpakctl rollback ${metadata.name}", or remove spec.rollback to try "${from}" without a deadline`,
  };
}

/** What it says where the time is over and there is nothing to go back to. */
function noWayBack(from: string, reason: string): Blocked {
  return {
    reason: progressReason.progressDeadlineExceeded,
    message: `Bundle "${from}" is ${reason}. There is no earlier healthy Bundle to go back to: change spec.template`,
  };
}

/** Why a Bundle that was not healthy within its deadline was not, in a few words. */
function reasonOf(
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
  // Until the Bundle is applied completely the condition tells of the one before.
  if (status.activeBundle !== bundle || unhealthy?.status !== 'False') return undefined;
  return unhealthy.message;
}

const longestCause = 500;

function shortened(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= longestCause) return text;
  return `${characters.slice(0, longestCause).join('')} …`;
}

function isUsable({ metadata, status }: Bundle): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Unpacked';
}
