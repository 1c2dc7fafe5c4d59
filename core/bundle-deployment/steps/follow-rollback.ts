import { bundleDeploymentCondition } from '../../../api/v1alpha1/conditions.ts';
import { createBundle } from '../create-bundle.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { ownBundle, ownBundles } from '../own-bundles.ts';
import { boundedHistory, onlyAskedFor, withActive } from '../revisions/history.ts';
import { rolledBack } from '../revisions/progress.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';

/**
 * Keeps the template's Bundle held up while it is rolled back. A changed template ends that, and so
 * does a spec that no longer asks for it.
 */
export async function followRollback(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment, bundle } = state;
  const { rollback, ...rest } = onlyAskedFor(state.status, deployment.spec);
  const inForce = rollback?.from === bundle?.metadata.name ? rollback : undefined;
  state.status = { ...rest, ...(inForce !== undefined && { rollback: inForce }) };
  rememberActive(state, dependencies);
  state.status = boundedHistory(state);
  if (inForce === undefined) return 'continue';
  state.holdUp ??= rolledBack(deployment, inForce);
  await restore(inForce.to, state, { dependencies, context });
  return 'continue';
}

/** Makes the Bundle that was gone back to once more, as that of the template is, where it is gone. */
async function restore(
  name: string,
  { deployment, status }: BundleDeploymentState,
  { dependencies, context }: { dependencies: ReconcileDependencies; context: StepContext },
): Promise<void> {
  const owned = ownBundles(deployment, dependencies.bundles);
  const revision = status.history?.find(({ bundle }) => bundle === name);
  if (revision === undefined || owned.some(({ metadata }) => metadata.name === name)) return;
  const { template } = revision;
  const earlier = { ...deployment, spec: { ...deployment.spec, template } };
  await createBundle(earlier, dependencies, context);
}

/** What was installed before there was a history is what the first rollback goes back to. */
function rememberActive(
  state: BundleDeploymentState,
  { bundles, reportHealth }: ReconcileDependencies,
): void {
  const { deployment, status } = state;
  const active = ownBundle(deployment, status.activeBundle, bundles);
  const { healthy, installed } = bundleDeploymentCondition;
  if (active === undefined) return;
  state.status = withActive(state, active, reportHealth ? healthy : installed);
}
