import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
} from '../../../api/v1alpha1/conditions.ts';
import type { BundleFiles } from '../../contracts/bundle-files.ts';
import { errorMessage, WaitingError } from '../../errors.ts';
import { checkObjectCount } from '../../manifests/object-bounds.ts';
import { findCondition } from '../../runtime/conditions.ts';
import { withTimeLimit } from '../../runtime/time-limit.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';

/** Lets the deployment's class turn the stored content into objects. */
export async function loadObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  try {
    state.objects = await objectsOf(state, dependencies, context);
    return 'continue';
  } catch (error) {
    // Content that is on its way back makes no valid bundle invalid, nor does that of another one.
    if (error instanceof WaitingError && isValid(state.status)) throw error;
    if (state.target !== state.bundle) throw error;
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

function isValid({ conditions }: BundleDeploymentStatus): boolean {
  const { hasValidBundle: type } = bundleDeploymentCondition;
  return findCondition(conditions, type)?.status === 'True';
}

async function objectsOf(
  { deployment, target: bundle }: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<readonly KubernetesObject[]> {
  const { rendered, provisioners } = dependencies;
  const handler = provisioners.get(deployment.spec.provisionerClassName)?.deployment;
  if (handler === undefined || bundle === undefined) return [];
  const known = rendered.get(deployment, bundle);
  if (known !== undefined) return known;
  const { content, limits } = dependencies;
  return await withTimeLimit(
    async (signal) => {
      const files = await content.load(bundle, signal);
      const { logger } = context;
      const objects = await handler(files, deployment, { signal, logger, limits, inputs: [] });
      checkObjectCount(objects.length, limits.maxEntries);
      rendered.set({ deployment, bundle }, objects, sizeOf(files));
      return objects;
    },
    { limit: limits.timeout, signal: context.signal },
  );
}

function sizeOf({ files }: BundleFiles): number {
  let bytes = 0;
  for (const content of files.values()) bytes += content.byteLength;
  return bytes;
}
