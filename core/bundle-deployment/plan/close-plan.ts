import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';

/** Takes the plan away once there is nothing of it left to do. */
export async function closePlan(
  state: BundleDeploymentState,
  { plans, storedPlans }: ReconcileDependencies,
  { signal }: StepContext,
): Promise<StepOutcome> {
  const { plan, ...status } = state.status;
  if (plan === undefined || state.target !== state.bundle || state.kept === true) return 'continue';
  const { name = '' } = state.deployment.metadata;
  await storedPlans.remove(name, signal);
  plans.forget(name);
  state.status = status;
  return 'continue';
}
