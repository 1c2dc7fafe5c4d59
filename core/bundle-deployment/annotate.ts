import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import type { BundleDeploymentState } from './state.ts';

/** Sets annotations of the deployment, `null` removes one; the state has it as it is then. */
export async function annotate(
  state: BundleDeploymentState,
  annotations: Readonly<Record<string, string | null>>,
  {
    dependencies: { client, deployments },
    signal,
  }: {
    readonly dependencies: Pick<BundleDeploymentDependencies, 'client' | 'deployments'>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { name = '', uid } = state.deployment.metadata;
  // The uid is refused where a namesake has come.
  const patch = { metadata: { uid, annotations } };
  const target = { resource: bundleDeploymentResource, key: { name } };
  const written = await client.patch(target, patch, { type: 'merge', signal });
  state.deployment = written as BundleDeployment;
  deployments.upsertIfNewer(state.deployment);
}
