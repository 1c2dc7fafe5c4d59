import type { KubernetesObject } from '../../../api/meta.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { errorMessage } from '../../errors.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';

/** Lets the deployment's class turn the stored content into objects. */
export async function loadObjects(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  try {
    state.objects = await objectsOf(state, dependencies, context);
    return 'continue';
  } catch (error) {
    state.status = hasValidBundle(
      state.status,
      {
        status: 'False',
        reason: bundleDeploymentReason.bundleLoadFailed,
        message: errorMessage(error),
      },
      dependencies.clock,
    );
    throw error;
  }
}

async function objectsOf(
  { deployment, bundle }: BundleDeploymentState,
  { content, provisioners, limits }: BundleDeploymentDependencies,
  { signal, logger }: StepContext,
): Promise<readonly KubernetesObject[]> {
  const handler = provisioners.get(deployment.spec.provisionerClassName)?.deployment;
  if (handler === undefined || bundle === undefined) return [];
  return await withTimeLimit(
    async (signal) =>
      handler(await content.load(bundle, signal), deployment, { signal, logger, limits }),
    { limit: limits.timeout, signal },
  );
}
