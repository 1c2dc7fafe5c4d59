import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { onlyAskedFor } from '../revisions/policy.ts';
import { boundedHistory, withActive } from '../revisions/record.ts';
import { rolledBack } from '../revisions/rollback.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

/**
 * Keeps the template's Bundle held up while it is rolled back. A changed template ends that, and so
 * does a spec that no longer asks for it.
 */
export async function followRollback(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
): Promise<StepOutcome> {
  const { deployment, bundle } = state;
  const { rollback, ...rest } = onlyAskedFor(state.status, deployment.spec);
  const inForce = rollback?.from === bundle?.metadata.name ? rollback : undefined;
  state.status = { ...rest, ...(inForce !== undefined && { rollback: inForce }) };
  rememberActive(state, dependencies);
  state.status = boundedHistory(state);
  if (inForce !== undefined) state.holdUp ??= rolledBack(deployment, inForce);
  return 'continue';
}

/** What was installed before there was a history is what the first rollback goes back to. */
function rememberActive(
  state: BundleDeploymentState,
  { bundles, reportHealth }: ReconcileDependencies,
): void {
  const { deployment, status } = state;
  const active = bundles
    .ownedBy(deployment.metadata.name ?? '')
    .find(({ metadata }) => metadata.name === status.activeBundle);
  const { healthy, installed } = bundleDeploymentCondition;
  if (active === undefined) return;
  state.status = withActive(state, active, reportHealth ? healthy : installed);
}
