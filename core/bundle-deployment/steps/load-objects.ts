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
import { takeRendering } from '../hooks/take-rendering.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';

/** Lets the deployment's class turn the stored content into objects. */
export async function loadObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  try {
    await takeRendering(state, await objectsOf(state, dependencies, context), context);
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
  const provisioner = provisioners.get(deployment.spec.provisionerClassName);
  if (provisioner?.deployment === undefined || bundle === undefined) return [];
  const { deployment: handler } = provisioner;
  const { content, limits, facts } = dependencies;
  return await withTimeLimit(
    async (signal) => {
      const handlerContext = { signal, logger: context.logger, limits };
      const prepared = await facts.prepare(deployment, provisioner, handlerContext);
      const rendering = { deployment, bundle, factsVersion: prepared.version };
      const known = rendered.get(rendering);
      if (known !== undefined) return known;
      const files = await content.load(bundle, signal);
      const given = { ...handlerContext, ...(await prepared.read()) };
      const objects = await handler(files, deployment, given);
      checkObjectCount(objects.length, limits.maxEntries);
      rendered.set(rendering, objects, sizeOf(files));
      return objects;
    },
    { limit: limits.timeout, grace: limits.timeout / 20, signal: context.signal },
  );
}

function sizeOf({ files }: BundleFiles): number {
  let bytes = 0;
  for (const content of files.values()) bytes += content.byteLength;
  return bytes;
}
