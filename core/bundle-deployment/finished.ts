import type { BundleDeploymentStatus } from '../../api/v1alpha1/bundle-deployment.ts';
import type { ApplyRequest, FinishedObject } from '../contracts/applier.ts';
import type { BundleDeploymentState } from './state.ts';

/** The target, and what of it has ended by itself, for a request. */
export function originOf({
  target,
  status: { finished },
}: Pick<BundleDeploymentState, 'target' | 'status'>): Pick<ApplyRequest, 'bundle' | 'finished'> {
  const bundle = target?.metadata.name ?? '';
  return { bundle, finished: finished?.bundle === bundle ? finished.objects : [] };
}

/** The status with what of the target has ended by itself; as it is where nobody looked. */
export function withFinished(
  { status, target }: Pick<BundleDeploymentState, 'status' | 'target'>,
  objects: readonly FinishedObject[] | undefined,
): BundleDeploymentStatus {
  if (objects === undefined) return status;
  const { finished: _, ...rest } = status;
  if (objects.length === 0) return rest;
  return { ...rest, finished: { bundle: target?.metadata.name ?? '', objects: [...objects] } };
}
