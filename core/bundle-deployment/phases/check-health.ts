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

/** Some problems only time makes worse (a pod unschedulable for 15 s); looking costs no request. */
const recheckInterval = 16_000;

/** Milliseconds unhealthy after which pods are asked why. */
const explainAfter = 10_000;

/** Tells whether what was applied works. Watch events wake it when that changes. */
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

/** A rollout that takes its time is nothing to ask about. */
function isUnhealthyForLong({ deployment, target }: BundleDeploymentState, clock: Clock): boolean {
  if (deployment.status?.activeBundle !== target?.metadata.name) return false;
  const reported = findCondition(deployment.status?.conditions, bundleDeploymentCondition.healthy);
  if (reported?.status !== 'False' || reported.reason !== reason.unhealthy) return false;
  return clock.now() - Date.parse(reported.lastTransitionTime) >= explainAfter;
}

/**
 * After a restart nothing has changed but that the rules are still to be evaluated: what an earlier
 * process said of the same Bundle holds until then.
 */
function isAsReported(
  { deployment, target, status }: BundleDeploymentState,
  problems: readonly HealthProblem[],
): boolean {
  if (problems.length === 0 || !problems.every(({ unknown }) => unknown)) return false;
  const reported = findCondition(status.conditions, bundleDeploymentCondition.healthy);
  return reported?.status === 'True' && deployment.status?.activeBundle === target?.metadata.name;
}

/** Notes when the applied Bundle was healthy first; reached only by one that is. */
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

/** Deletes the Bundles of earlier templates, once the current one has taken over. */
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
