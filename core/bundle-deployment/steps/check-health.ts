import { bundleDeploymentReason as reason } from '../../../api/v1alpha1/conditions.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';
import { healthy } from '../status.ts';

/** Some problems only time makes worse (a pod unschedulable for 15 s); looking costs no request. */
const recheckInterval = 16_000;

/** Tells whether what was applied works (spec section 10). Watch events wake it when that changes. */
export async function checkHealth(
  state: BundleDeploymentState,
  { applier, reportHealth, clock }: BundleDeploymentDependencies,
): Promise<StepOutcome> {
  if (!reportHealth) return 'continue';
  const problems = applier.health(state.deployment);
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
