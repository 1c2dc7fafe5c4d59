import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleCondition,
  bundleDeploymentCondition,
  progressReason,
} from '../../../api/v1alpha1/conditions.ts';
import type { RollbackStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import type { Blocked } from '../../contracts/applier.ts';
import { errorMessage } from '../../errors.ts';
import { findCondition, timestamp } from '../../platform/runtime/index.ts';
import { ownBundle, ownBundles } from '../bundles.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { isMadeAgain } from '../plan/approval.ts';
import { type History, lastHealthy, rollbackDeadline, withRolledBack } from './history.ts';
import { pendingProgress, reasonOf, timeLeft } from './progress.ts';

/**
 * Rolls the template's Bundle back after its deadline, whatever the result of the reconcile. Only
 * writes the decision into the status: the next reconcile, in this process or another one, acts on
 * it.
 */
export function watchDeadline(
  state: BundleDeploymentState,
  { bundles, clock }: Pick<BundleDeploymentDependencies, 'bundles' | 'clock'>,
  { live, wakeAfter }: Pick<PhaseContext, 'live' | 'wakeAfter'>,
): Pick<Found, 'status' | 'blocked'> {
  const pending = pendingProgress(state);
  const deadline = rollbackDeadline(state.deployment.spec);
  if (pending === undefined || deadline === undefined) return {};
  const left = timeLeft(pending, deadline, { live, clock });
  if (left > 0) {
    wakeAfter(left);
    return {};
  }
  const { deployment, status } = state;
  const from = pending.bundle;
  const reason = reasonOf(state, from, deployment.spec.rollback?.deadline);
  const { history = [] } = status;
  const { name: to, uid } = wayBack(history, from, ownBundles(deployment, bundles)) ?? {};
  if (to === undefined) return { blocked: noWayBack(from, reason) };
  const at = timestamp(clock);
  const rollback = { from, to, ...(uid !== undefined && { uid }), reason, at };
  wakeAfter(0);
  return {
    status: { ...status, rollback, history: [...withRolledBack(history, from, at)] },
    blocked: rollingBack(deployment, rollback),
  };
}

/** The Bundle for a rollback from another one: the last healthy one that still exists. */
function wayBack(
  history: History,
  from: string,
  owned: readonly Bundle[],
): Bundle['metadata'] | undefined {
  const present = new Map(owned.filter(isUsable).map(({ metadata }) => [metadata.name, metadata]));
  const healthy = lastHealthy(
    history.filter(({ bundle }) => present.has(bundle)),
    from,
  );
  return present.get(healthy?.bundle);
}

/**
 * Whether a rollback to that Bundle is not completed: other content was begun since, or applied
 * completely.
 */
export function isOnWayBack(
  { rollback, applied }: BundleDeploymentStatus,
  { metadata: { name } }: Bundle,
): boolean {
  if (rollback === undefined || rollback.to !== name) return false;
  return applied?.superseded === true || applied?.bundle !== name;
}

/**
 * An automatic rollback needs no approval for the Bundle that was healthy, but for a new one, and
 * for a class or config that nobody has approved.
 */
export function unapprovedRollback(
  { deployment, status, target }: BundleDeploymentState,
  { lastApplied }: Pick<ReconcileDependencies, 'lastApplied'>,
): Pick<Found, 'blocked'> {
  const { to } = status.rollback ?? {};
  if (to === undefined || target?.metadata.name !== to) return {};
  const { awaitingApproval: reason } = progressReason;
  if (isMadeAgain(status, target)) {
    const message =
      `Bundle "${to}", to which core rolls back, was deleted and made again since, so core does not apply it without approval: ` +
      'set spec.template to its template, and approve the plan';
    return { blocked: { reason, message } };
  }
  if (!isOnWayBack(status, target) || lastApplied.get(deployment, target) !== undefined) return {};
  const message =
    `core does not roll back to Bundle "${to}", because nobody has approved the class and config that BundleDeployment "${deployment.metadata.name}" has now: ` +
    'restore spec.provisionerClassName and spec.config, or set spec.template to the template of that Bundle, and approve the plan';
  return { blocked: { reason, message } };
}

/** Reason and message of Progressing from the decision for a rollback until its Bundle is active. */
export function rollingBack(deployment: BundleDeployment, rollback: RollbackStatus): Blocked {
  const { to, at } = rollback;
  const beginning = `Core began to roll back to Bundle "${to}" at ${at}`;
  return {
    reason: progressReason.rollingBack,
    message: rollbackText(beginning, deployment, rollback),
  };
}

/**
 * Reports a rollback as done once its Bundle is completely applied, and before, why that Bundle is
 * not applied. It stays done when an object is repaired later.
 */
export function reportRolledBack(
  state: BundleDeploymentState,
  { bundles }: Pick<BundleDeploymentDependencies, 'bundles'>,
): Pick<Found, 'blocked'> {
  const { deployment, status, blocked } = state;
  const { rollback } = status;
  if (rollback === undefined || blocked?.reason !== progressReason.rollingBack) return {};
  const { to, at } = rollback;
  const beginning = `Core rolled back to Bundle "${to}" at ${at}`;
  const message = rollbackText(beginning, deployment, rollback);
  if (isRolledBack(state, to) || isTold(deployment, message)) {
    return { blocked: { reason: progressReason.rolledBack, message } };
  }
  const isNew = deployment.status?.rollback?.to !== to;
  const obstacle = isNew ? undefined : obstacleOf(state, ownBundle(deployment, to, bundles));
  if (obstacle === undefined) return {};
  const text = `${blocked.message}. Core cannot apply Bundle "${to}" now: ${obstacle}`;
  return { blocked: { ...blocked, message: text } };
}

function isRolledBack({ status }: BundleDeploymentState, to: string): boolean {
  const { installed } = bundleDeploymentCondition;
  return (
    status.activeBundle === to && findCondition(status.conditions, installed)?.status === 'True'
  );
}

function isTold({ status }: BundleDeployment, message: string): boolean {
  const { progressing } = bundleDeploymentCondition;
  return findCondition(status?.conditions, progressing)?.message === message;
}

/** Why the Bundle of a rollback is not applied, if this reconcile has found out. */
function obstacleOf(
  { target, failure }: BundleDeploymentState,
  to: Bundle | undefined,
): string | undefined {
  const error = failure && errorMessage(failure);
  if (target !== undefined || (to !== undefined && isUsable(to))) return error;
  const unpacked = findCondition(to?.status?.conditions, bundleCondition.unpacked);
  const cause = error ?? unpacked?.message;
  return cause ? `it is not unpacked: ${cause}` : 'it is not unpacked';
}

function rollbackText(
  beginning: string,
  { metadata }: BundleDeployment,
  { from, reason }: RollbackStatus,
): string {
  return (
    `${beginning}, because "${from}" was ${reason}. ` +
    `Core does not retry "${from}": change spec.template, make the rollback permanent with ` +
    `"rukpakctl rollback ${metadata.name}", or remove spec.rollback to retry "${from}" without a deadline`
  );
}

/** Reason and message of Progressing after the deadline when there is no Bundle to roll back to. */
function noWayBack(from: string, reason: string): Blocked {
  return {
    reason: progressReason.progressDeadlineExceeded,
    message: `Bundle "${from}" is ${reason}. There is no earlier healthy Bundle to roll back to: change spec.template`,
  };
}

function isUsable({ metadata, status }: Bundle): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Unpacked';
}
