import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
  kstatusCondition,
  progressReason,
} from '../../api/v1alpha1/conditions.ts';
import type { HeldPrune } from '../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import type {
  ApplyRequest,
  ApplyResult,
  DriftedObject,
  FinishedObject,
} from '../contracts/applier.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import { findCondition, setCondition } from '../platform/runtime/index.ts';
import { shortList } from '../short-list.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import type { BundleDeploymentState } from './phase.ts';

interface Outcome {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** The conditions of a BundleDeployment (docs/spec/bundle-deployment.md). */
export function hasValidBundle(
  status: BundleDeploymentStatus,
  outcome: Outcome,
  clock: Clock,
): BundleDeploymentStatus {
  const type = bundleDeploymentCondition.hasValidBundle;
  return withCondition(status, { type, ...outcome }, clock);
}

/** The status of a deployment whose present state core reconciles. */
export function observed({ metadata, status }: BundleDeployment): BundleDeploymentStatus {
  const requestedAt = metadata.annotations?.[annotation.reconcileRequestedAt];
  return {
    ...status,
    observedGeneration: metadata.generation ?? 0,
    ...(requestedAt !== undefined && { lastHandledReconcileAt: requestedAt }),
  };
}

/** The status unchanged, because the next reconcile will report soon. */
export function notObserved(state: BundleDeploymentState): BundleDeploymentStatus {
  const { observedGeneration: _, ...rest } = notHandled(state);
  const { observedGeneration } = state.deployment.status ?? {};
  return observedGeneration === undefined ? rest : { ...rest, observedGeneration };
}

/** The status with the request of before, because core has not done what is requested now. */
export function notHandled({ deployment, status }: BundleDeploymentState): BundleDeploymentStatus {
  const { lastHandledReconcileAt: _, ...rest } = status;
  const { lastHandledReconcileAt } = deployment.status ?? {};
  return lastHandledReconcileAt === undefined ? rest : { ...rest, lastHandledReconcileAt };
}

export function installed(
  status: BundleDeploymentStatus,
  bundleName: string,
  clock: Clock,
): BundleDeploymentStatus {
  const condition = {
    type: bundleDeploymentCondition.installed,
    status: 'True',
    reason: bundleDeploymentReason.installationSucceeded,
    message: `Instantiated bundle ${bundleName} successfully`,
  } as const;
  return { ...withCondition(status, condition, clock), activeBundle: bundleName };
}

/**
 * A Bundle that is not installed is not healthy either; sets Healthy only if it is reported at all.
 */
export function notInstalled(
  status: BundleDeploymentStatus,
  failure: { reason: string; message: string; reportHealth: boolean },
  clock: Clock,
): BundleDeploymentStatus {
  const { reason, message, reportHealth } = failure;
  const type = bundleDeploymentCondition.installed;
  const next = withCondition(status, { type, status: 'False', reason, message }, clock);
  if (!reportHealth) return next;
  return healthy(
    next,
    {
      status: 'False',
      reason: bundleDeploymentReason.installationStatusFalse,
      message: 'Installed condition is false',
    },
    clock,
  );
}

export function healthy(
  status: BundleDeploymentStatus,
  outcome: Outcome,
  clock: Clock,
): BundleDeploymentStatus {
  return withCondition(status, { type: bundleDeploymentCondition.healthy, ...outcome }, clock);
}

/** The status with the objects that wait to be pruned, or without any. */
export function withHeldPrune(
  status: BundleDeploymentStatus,
  heldPrune: HeldPrune | undefined,
): BundleDeploymentStatus {
  const { heldPrune: _, ...rest } = status;
  return heldPrune === undefined ? rest : { ...rest, heldPrune };
}

/**
 * The status to write: with Progressing when something blocks the deployment, otherwise without.
 */
export function progressing(
  { status, blocked }: Pick<BundleDeploymentState, 'status' | 'blocked'>,
  clock: Clock,
): BundleDeploymentStatus {
  const type = bundleDeploymentCondition.progressing;
  if (blocked !== undefined)
    return withCondition(status, { type, status: 'False', ...blocked }, clock);
  const { conditions } = status;
  if (conditions?.some((condition) => condition.type === type) !== true) return status;
  return { ...status, conditions: conditions.filter((condition) => condition.type !== type) };
}

function withCondition(
  status: BundleDeploymentStatus,
  update: Outcome & { readonly type: string },
  clock: Clock,
): BundleDeploymentStatus {
  return { ...status, conditions: [...setCondition(status.conditions ?? [], update, clock)] };
}

const listedObjects = 20;
const listedFields = 5;
const { drifted: type } = bundleDeploymentCondition;

/** The status with Drifted when objects differ from the bundle, otherwise without. */
export function withDrift(
  status: BundleDeploymentStatus,
  drifted: readonly DriftedObject[] | undefined,
  clock: Clock,
): BundleDeploymentStatus {
  const { conditions = [] } = status;
  if (drifted === undefined || drifted.length === 0) {
    if (findCondition(conditions, type) === undefined) return status;
    return { ...status, conditions: conditions.filter((condition) => condition.type !== type) };
  }
  const update = {
    type,
    status: 'True',
    reason: progressReason.driftDetected,
    message: driftMessage(drifted),
  } as const;
  return { ...status, conditions: [...setCondition(conditions, update, clock)] };
}

function driftMessage(drifted: readonly DriftedObject[]): string {
  const objects = drifted.map(
    ({ object, missing, fields }) => `${object} (${missing ? 'missing' : listed(fields)})`,
  );
  const [count, differ] =
    drifted.length === 1 ? ['1 object', 'differs'] : [`${drifted.length} objects`, 'differ'];
  return (
    `${count} ${differ} from the bundle: ${shortList(objects, listedObjects)}. ` +
    'Core reverts nothing while spec.drift.mode is Warn'
  );
}

function listed(fields: readonly string[]): string {
  return shortList(
    fields.map((field) => field.slice(0, 120)),
    listedFields,
  );
}

/** The target and its objects that have ended by themselves, for a request. */
export function originOf({
  target,
  status: { finished },
}: Pick<BundleDeploymentState, 'target' | 'status'>): Pick<ApplyRequest, 'bundle' | 'finished'> {
  const bundle = target?.metadata.name ?? '';
  return { bundle, finished: finished?.bundle === bundle ? finished.objects : [] };
}

/**
 * The status with the target's objects that have ended by themselves; unchanged when the apply did
 * not report them.
 */
export function withFinished(
  { status, target }: Pick<BundleDeploymentState, 'status' | 'target'>,
  objects: readonly FinishedObject[] | undefined,
): BundleDeploymentStatus {
  if (objects === undefined) return status;
  const { finished: _, ...rest } = status;
  if (objects.length === 0) return rest;
  return { ...rest, finished: { bundle: target?.metadata.name ?? '', objects: [...objects] } };
}

/**
 * The status with the kinds of which the deployment may have objects, unless they are unknown. The
 * annotation with the same kinds may be lost: `kubectl replace` removes it.
 */
export function withGroupKinds(
  status: BundleDeploymentStatus,
  groupKinds: ApplyResult['groupKinds'],
): BundleDeploymentStatus {
  return groupKinds === undefined ? status : { ...status, groupKinds: [...groupKinds] };
}

/**
 * The status with the reason why the target could not be rolled out, and the error of the
 * reconcile. A refusal is retried, because the removal of its cause may send no event.
 */
export function installFailure(
  { status }: Pick<BundleDeploymentState, 'status'>,
  cause: unknown,
  { clock, reportHealth }: Pick<BundleDeploymentDependencies, 'clock' | 'reportHealth'>,
): { readonly status: BundleDeploymentStatus; readonly error: Error } {
  const message = errorMessage(cause);
  const reason = (cause instanceof TerminalError && cause.reason) || failureReason({ status });
  return {
    status: notInstalled(status, { reason, message, reportHealth }, clock),
    error: new Error(message, { cause }),
  };
}

/** The reason of a failure that has no more specific one. */
export function failureReason({ status }: Pick<BundleDeploymentState, 'status'>): string {
  return status.activeBundle === undefined
    ? bundleDeploymentReason.installFailed
    : bundleDeploymentReason.upgradeFailed;
}

/** An earlier reconcile has completely applied the same spec. */
export function isReady({ metadata, status }: BundleDeployment): boolean {
  const ready = findCondition(status?.conditions, kstatusCondition.ready);
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}
