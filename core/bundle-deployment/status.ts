import type { BundleDeploymentStatus } from '../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
} from '../../api/v1alpha1/conditions.ts';
import type { HeldPrune } from '../../api/v1alpha1/deployment-progress.ts';
import type { Clock } from '../platform/clock.ts';
import { setCondition } from '../platform/runtime/index.ts';
import type { BundleDeploymentState } from './state.ts';

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
  return withCondition(
    status,
    { type: bundleDeploymentCondition.hasValidBundle, ...outcome },
    clock,
  );
}

/** The status as it was: what comes soon is to be told with the rest. */
export function notObserved({ deployment, status }: BundleDeploymentState): BundleDeploymentStatus {
  const { observedGeneration: _, ...rest } = status;
  const { observedGeneration } = deployment.status ?? {};
  return observedGeneration === undefined ? rest : { ...rest, observedGeneration };
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

/** What is not installed is not healthy either; Healthy is told only where it is reported at all. */
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

/** What waits to be pruned, or nothing. */
export function withHeldPrune(
  status: BundleDeploymentStatus,
  heldPrune: HeldPrune | undefined,
): BundleDeploymentStatus {
  const { heldPrune: _, ...rest } = status;
  return heldPrune === undefined ? rest : { ...rest, heldPrune };
}

/** The status to write: with Progressing where something holds the deployment up, else without. */
export function progressing(
  { status, holdUp }: Pick<BundleDeploymentState, 'status' | 'holdUp'>,
  clock: Clock,
): BundleDeploymentStatus {
  const type = bundleDeploymentCondition.progressing;
  if (holdUp !== undefined)
    return withCondition(status, { type, status: 'False', ...holdUp }, clock);
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
