import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason as reason,
} from '../../../api/v1alpha1/conditions.ts';
import type { HealthProblem } from '../../contracts/applier.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { findCondition, timestamp } from '../../platform/runtime/index.ts';
import { deleteBundle, ownBundles } from '../bundles.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { isRevision, withHealthy } from '../revisions/history.ts';
import { withArrived } from '../revisions/progress.ts';
import { healthy } from '../status.ts';

/**
 * Milliseconds: time alone makes some problems worse (a pod unschedulable for 15 s), and a check
 * costs no request.
 */
const recheckInterval = 16_000;

/** Milliseconds of bad health before core asks pods for the reason. */
const explainAfter = 10_000;

/** Reports the health of the applied objects. Watch events wake it when that changes. */
export async function checkHealth(
  state: BundleDeploymentState,
  { applier, reportHealth, clock }: BundleDeploymentDependencies,
  { signal }: Pick<PhaseContext, 'signal'>,
): Promise<Found> {
  if (!reportHealth) return {};
  const problems = isUnhealthyForLong(state, clock)
    ? await applier.explainedHealth(state.deployment, signal)
    : applier.health(state.deployment);
  if (isAsReported(state, problems)) return { requeueAfter: recheckInterval };
  if (problems.length > 0) {
    const message = problems.map((problem) => problem.message).join('\n');
    const outcome = { status: 'False', reason: reason.unhealthy, message } as const;
    return { status: healthy(state.status, outcome, clock), requeueAfter: recheckInterval };
  }
  const message = 'BundleDeployment is healthy';
  const outcome = { status: 'True', reason: reason.healthy, message } as const;
  return { status: healthy(state.status, outcome, clock) };
}

/** A normal rollout needs no explanation. */
function isUnhealthyForLong({ deployment, target }: BundleDeploymentState, clock: Clock): boolean {
  if (deployment.status?.activeBundle !== target?.metadata.name) return false;
  const reported = findCondition(deployment.status?.conditions, bundleDeploymentCondition.healthy);
  if (reported?.status !== 'False' || reported.reason !== reason.unhealthy) return false;
  return clock.now() - Date.parse(reported.lastTransitionTime) >= explainAfter;
}

/**
 * After a restart the rules must be evaluated again: until then, the earlier process's message
 * about the same Bundle stays.
 */
function isAsReported(
  { deployment, target, status }: BundleDeploymentState,
  problems: readonly HealthProblem[],
): boolean {
  if (problems.length === 0 || !problems.every(({ unknown }) => unknown)) return false;
  const reported = findCondition(status.conditions, bundleDeploymentCondition.healthy);
  return reported?.status === 'True' && deployment.status?.activeBundle === target?.metadata.name;
}

/** Records when the applied Bundle was first healthy; runs only when it is healthy. */
export async function noteHealthy(
  { target, status: before }: BundleDeploymentState,
  { clock, metrics }: ReconcileDependencies,
): Promise<Found> {
  const { name = '' } = target?.metadata ?? {};
  const status = before.progress?.bundle === name ? withArrived(before, clock) : before;
  if (status !== before) metrics?.becameHealthy(secondsToHealthy(status));
  const { history } = status;
  if (history === undefined) return { status };
  return { status: { ...status, history: [...withHealthy(history, name, timestamp(clock))] } };
}

function secondsToHealthy({ progress }: BundleDeploymentStatus): number {
  return progress?.secondsToHealthy ?? 0;
}

/** Deletes the Bundles of earlier templates after the current one has replaced them. */
export async function retireBundles(
  state: BundleDeploymentState,
  { bundles, client }: BundleDeploymentDependencies,
  { signal }: PhaseContext,
): Promise<Found> {
  const { deployment, bundle, target } = state;
  if (target !== bundle) return { done: true };
  for (const old of ownBundles(deployment, bundles)) {
    if (!isRetired(old, state)) continue;
    try {
      await deleteBundle(client, old, signal);
    } catch (error) {
      throw new Error(`failed to delete old bundles: ${errorMessage(error)}`, { cause: error });
    }
  }
  return { done: true };
}

function isRetired(old: Bundle, { bundle, status }: BundleDeploymentState): boolean {
  if (old.metadata.name === bundle?.metadata.name) return false;
  return old.metadata.deletionTimestamp === undefined && !isRevision(old, status);
}
