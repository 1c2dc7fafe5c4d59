import {
  bundleDeploymentCondition,
  bundleDeploymentReason as reason,
} from '../../../api/v1alpha1/conditions.ts';
import type { HealthProblem } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
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
