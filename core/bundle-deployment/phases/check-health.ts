import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
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
import type { BundleDeploymentState, StepContext, StepOutcome } from '../phase.ts';
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
  { signal }: Pick<StepContext, 'signal'>,
): Promise<StepOutcome> {
  if (!reportHealth) return 'continue';
  const problems = isUnhealthyForLong(state, clock)
    ? await applier.explainedHealth(state.deployment, signal)
    : applier.health(state.deployment);
  if (isAsReported(state, problems)) return { requeueAfter: recheckInterval };
  if (problems.length > 0) {
    const message = problems.map((problem) => problem.message).join('\n');
    state.status = healthy(
      state.status,
      { status: 'False', reason: reason.unhealthy, message },
      clock,
    );
    return { requeueAfter: recheckInterval };
  }
  const message = 'BundleDeployment is healthy';
  state.status = healthy(state.status, { status: 'True', reason: reason.healthy, message }, clock);
  return 'continue';
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
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
): Promise<StepOutcome> {
  const { name = '' } = state.target?.metadata ?? {};
  noteProgress(state, name, dependencies);
  const { history } = state.status;
  if (history === undefined) return 'continue';
  const noted = withHealthy(history, name, timestamp(dependencies.clock));
  state.status = { ...state.status, history: [...noted] };
  return 'continue';
}

function noteProgress(
  state: BundleDeploymentState,
  name: string,
  { clock, metrics }: ReconcileDependencies,
): void {
  const { progress } = state.status;
  if (progress?.bundle !== name || progress.healthyAt !== undefined) return;
  state.status = withArrived(state.status, clock);
  metrics?.becameHealthy(state.status.progress?.secondsToHealthy ?? 0);
}

/** Deletes the Bundles of earlier templates, once the current one has taken over. */
export async function retireBundles(
  state: BundleDeploymentState,
  { bundles, client }: BundleDeploymentDependencies,
  { signal }: StepContext,
): Promise<StepOutcome> {
  const { deployment, bundle, target } = state;
  if (target !== bundle) return 'done';
  for (const old of ownBundles(deployment, bundles)) {
    if (!isRetired(old, state)) continue;
    try {
      await deleteBundle(client, old, signal);
    } catch (error) {
      throw new Error(`failed to delete old bundles: ${errorMessage(error)}`, { cause: error });
    }
  }
  return 'done';
}

function isRetired(old: Bundle, { bundle, status }: BundleDeploymentState): boolean {
  if (old.metadata.name === bundle?.metadata.name) return false;
  return old.metadata.deletionTimestamp === undefined && !isRevision(old, status);
}
