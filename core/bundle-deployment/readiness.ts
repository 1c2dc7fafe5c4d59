import type { Condition } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentStatus } from '../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleReason,
  kstatusCondition,
  progressReason,
  readyReason,
  bundleDeploymentReason as reason,
} from '../../api/v1alpha1/conditions.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { findCondition, type Readiness, withReadiness } from '../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import type { BundleDeploymentState, Found } from './phase.ts';
import { isReady, notHandled } from './status.ts';

type Summary = Omit<Readiness, 'observedGeneration'>;

interface Reconciled {
  readonly state: BundleDeploymentState;
  /** With all other conditions as they will be written. */
  readonly status: BundleDeploymentStatus;
  readonly reportHealth: boolean;
}

/**
 * Reasons with which nothing continues before somebody changes the deployment or its dependencies.
 */
const stalling: ReadonlySet<string> = new Set([
  progressReason.rolledBack,
  progressReason.progressDeadlineExceeded,
  progressReason.seedChanged,
  progressReason.generatedValuesChanged,
  progressReason.installNamespaceChanged,
]);

/** Reasons with which core waits for a decision: it is neither reconciling nor stalled. */
const deciding: ReadonlySet<string> = new Set([
  progressReason.paused,
  progressReason.awaitingApproval,
  progressReason.pruneHeld,
]);

/**
 * Reasons with which only the pruning of a working installation is pending: bad health is more
 * important.
 */
const leftovers: ReadonlySet<string> = new Set([
  progressReason.pruneHeld,
  progressReason.kindNotServed,
]);

type Rule = (reconciled: Reconciled) => Summary | undefined;

/** From the first cause to the last effect: the first matching rule decides. */
const rules: readonly Rule[] = [
  invalidBundle,
  pendingBundle,
  blocked,
  notInstalled,
  unhealthy,
  leftOver,
  unfinished,
];

/**
 * The status with Ready, Reconciling and Stalled, which summarize the other conditions. Leaves them
 * unchanged when the present generation has not been evaluated, because their observedGeneration
 * names an earlier one.
 */
export function withSummary(
  state: BundleDeploymentState & Pick<Found, 'error'>,
  status: BundleDeploymentStatus,
  { clock, reportHealth }: Pick<BundleDeploymentDependencies, 'clock' | 'reportHealth'>,
): BundleDeploymentStatus {
  const { observedGeneration, conditions = [] } = status;
  if (observedGeneration !== (state.deployment.metadata.generation ?? 0)) return status;
  const readiness = { ...summaryOf({ state, status, reportHealth }), observedGeneration };
  // After an error that no condition tells, a status that is good from before must not answer a
  // request: the next attempt does what was requested.
  const isUntold = state.error !== undefined && readiness.status === 'True';
  const rest = isUntold ? notHandled({ ...state, status }) : status;
  return { ...rest, conditions: [...withReadiness(conditions, readiness, clock)] };
}

function summaryOf(reconciled: Reconciled): Summary {
  if (reconciled.state.deployment.metadata.deletionTimestamp !== undefined) {
    return deleting(reconciled);
  }
  for (const rule of rules) {
    const summary = rule(reconciled);
    if (summary !== undefined) return summary;
  }
  return ready(reconciled);
}

function deleting({ state }: Reconciled): Summary {
  const { deleting: because } = progressReason;
  const { reason: why, message } = state.blocked ?? {
    reason: because,
    message: 'it is being deleted',
  };
  return { status: 'False', reason: why, message, outlook: 'reconciling' };
}

function invalidBundle({ state, status }: Reconciled): Summary | undefined {
  const valid = findCondition(status.conditions, bundleDeploymentCondition.hasValidBundle);
  if (valid === undefined || valid.status === 'True') return undefined;
  const isStuck =
    valid.reason === reason.unpackFailed
      ? findCondition(state.bundle?.status?.conditions, kstatusCondition.stalled) !== undefined
      : state.failure instanceof TerminalError;
  return {
    ...kept({ state, status }, textOf(valid)),
    outlook: isStuck ? 'stalled' : 'reconciling',
  };
}

function pendingBundle({ state, status }: Reconciled): Summary | undefined {
  const valid = findCondition(status.conditions, bundleDeploymentCondition.hasValidBundle);
  if (valid?.reason !== reason.unpackPending) return undefined;
  const cause = causeOf(state.bundle);
  const message = `${valid.message}${cause === undefined ? '' : `: ${cause.message}`}`;
  const why = cause !== undefined && passedOn.has(cause.reason) ? cause.reason : valid.reason;
  const outlook = why === readyReason.awaitingUpload ? undefined : 'reconciling';
  return { ...kept({ state, status }, { reason: why, message }), outlook };
}

/** Reasons of a Bundle that the deployment repeats in its Ready condition. */
const passedOn: ReadonlySet<string> = new Set([
  bundleReason.unpacking,
  readyReason.awaitingUpload,
  readyReason.classNotServed,
]);

/** The condition that says what a Bundle waits for; undefined when none does. */
function causeOf(bundle: Bundle | undefined): Condition | undefined {
  const deleted = bundle?.metadata.deletionTimestamp !== undefined;
  const cause = findCondition(bundle?.status?.conditions, kstatusCondition.ready);
  return deleted || cause?.status === 'True' || cause?.message === '' ? undefined : cause;
}

function blocked({ state, status }: Reconciled): Summary | undefined {
  const { blocked: because } = state;
  if (because === undefined || leftovers.has(because.reason)) return undefined;
  return { ...kept({ state, status }, because), outlook: outlookOf(because.reason) };
}

function outlookOf(why: string): Readiness['outlook'] {
  if (stalling.has(why)) return 'stalled';
  return deciding.has(why) ? undefined : 'reconciling';
}

function notInstalled({ state, status }: Reconciled): Summary | undefined {
  const installed = findCondition(status.conditions, bundleDeploymentCondition.installed);
  if (installed === undefined || installed.status === 'True') return undefined;
  const name = otherActive(state, status) && state.bundle?.metadata.name;
  const failed = name === undefined ? '' : `Bundle ${name} is not installed: `;
  const text = { reason: installed.reason, message: `${failed}${installed.message}` };
  return { ...kept({ state, status }, text), outlook: 'reconciling' };
}

function unhealthy({ status, reportHealth }: Reconciled): Summary | undefined {
  const healthy = findCondition(status.conditions, bundleDeploymentCondition.healthy);
  if (!reportHealth || healthy === undefined || healthy.status === 'True') return undefined;
  return { status: 'False', ...textOf(healthy) };
}

function leftOver({ state }: Reconciled): Summary | undefined {
  const { blocked: because } = state;
  if (because === undefined) return undefined;
  return { status: 'False', ...because, outlook: outlookOf(because.reason) };
}

function unfinished({ state, status }: Reconciled): Summary | undefined {
  if (isReady(state.deployment) || isFinished(state, status)) return undefined;
  const { failure, bundle } = state;
  const text =
    failure === undefined
      ? { reason: readyReason.installing, message: `installing Bundle ${bundle?.metadata.name}` }
      : { reason: readyReason.reconcileFailed, message: errorMessage(failure) };
  return { ...kept({ state, status }, text), outlook: 'reconciling' };
}

/** The Bundle of the template is installed, and nothing of it is pending. */
function isFinished(
  { bundle, settled, failure }: BundleDeploymentState,
  { conditions, activeBundle }: BundleDeploymentStatus,
): boolean {
  const installed = findCondition(conditions, bundleDeploymentCondition.installed);
  if (installed?.status !== 'True' || settled !== true || failure !== undefined) return false;
  return activeBundle !== undefined && activeBundle === bundle?.metadata.name;
}

function ready({ status, reportHealth }: Reconciled): Summary {
  const healthy = findCondition(status.conditions, bundleDeploymentCondition.healthy);
  const isHealthy = reportHealth && healthy !== undefined;
  return {
    status: 'True',
    reason: isHealthy ? reason.healthy : readyReason.installed,
    message: `Bundle ${status.activeBundle} is installed${isHealthy ? ' and healthy' : ''}`,
  };
}

function textOf({ reason: why, message }: Condition): Pick<Readiness, 'reason' | 'message'> {
  return { reason: why, message };
}

/** Not Ready, with a note that the active Bundle stays installed. */
function kept(
  { state, status }: Pick<Reconciled, 'state' | 'status'>,
  text: Pick<Readiness, 'reason' | 'message'>,
): Summary {
  const active = otherActive(state, status);
  const note = active === undefined ? '' : ` (Bundle ${active} stays active)`;
  return { status: 'False', ...text, message: `${text.message}${note}` };
}

/** The installed Bundle, when the template wants another one. */
function otherActive(
  { bundle }: BundleDeploymentState,
  { activeBundle = '' }: BundleDeploymentStatus,
): string | undefined {
  return activeBundle === '' || activeBundle === bundle?.metadata.name ? undefined : activeBundle;
}
