import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { finalizer } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { addFinalizer, removeFinalizer } from '../../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';

/**
 * Adds or removes the finalizer where that changes anything; the state has the deployment as it is
 * then. A conflict means that somebody else was quicker: to be tried again.
 */
export async function writeFinalizer(
  state: BundleDeploymentState,
  write: typeof addFinalizer | typeof removeFinalizer,
  {
    dependencies: { client, deployments },
    context: { signal },
  }: {
    readonly dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments'>;
    readonly context: Pick<StepContext, 'signal'>;
  },
): Promise<void> {
  const target = { client, resource: bundleDeploymentResource, signal };
  const written = await write(target, state.deployment, finalizer.deleteObjects);
  if (written === undefined) return;
  state.deployment = written as BundleDeployment;
  deployments.upsertIfNewer(state.deployment);
}
