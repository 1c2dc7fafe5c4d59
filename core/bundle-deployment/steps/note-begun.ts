import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { statusPatch } from '../../platform/runtime/index.ts';
import { withSuperseded } from '../applied-rendering.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';

/** Notes what is about to be applied, and where: from here on it may be there in part. */
export async function noteBegun(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment, recipe } = state;
  const { lastApplied, systemNamespace } = dependencies;
  if (recipe !== undefined) lastApplied.begin(deployment, recipe);
  const installNamespace = installNamespaceOf(deployment, systemNamespace);
  state.status = { ...state.status, installNamespace };
  await noteSuperseded(state, dependencies, context);
  return 'continue';
}

/**
 * Written before the first object is: a crash amid an upgrade would forget it, and when somebody takes
 * the upgrade back, core would not know who asked for the deletions.
 */
async function noteSuperseded(
  state: BundleDeploymentState,
  { client, deployments }: Pick<ReconcileDependencies, 'client' | 'deployments'>,
  { signal }: StepContext,
): Promise<void> {
  state.status = withSuperseded(state);
  const { deployment, status } = state;
  if (status.applied?.superseded !== true || deployment.status?.applied?.superseded === true) {
    return;
  }
  const patch = statusPatch(deployment, { ...deployment.status, applied: status.applied });
  if (patch === undefined) return;
  const target = {
    resource: bundleDeploymentResource,
    key: { name: deployment.metadata.name ?? '' },
  };
  const options = { type: 'json', subresource: 'status', signal } as const;
  state.deployment = (await client.patch(target, patch, options)) as BundleDeployment;
  deployments.upsertIfNewer(state.deployment);
}
