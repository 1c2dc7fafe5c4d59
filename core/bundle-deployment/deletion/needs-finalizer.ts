import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { finalizer } from '../../../api/v1alpha1/labels.ts';
import { hookOf } from '../../apply/hooks/hook.ts';
import { annotatedStage } from '../../apply/stages/stage-of.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { isAtDeletion } from '../hooks/hooks-status.ts';
import type { BundleDeploymentState } from '../state.ts';

type Surroundings = Pick<BundleDeploymentDependencies, 'deployments' | 'applier'>;

/**
 * Whether the deletion of a deployment is to be more than the garbage collector's: some objects are
 * to stay, or they are to go in order. What its objects say themselves is not looked at here.
 */
export function needsFinalizer(deployment: BundleDeployment, surroundings: Surroundings): boolean {
  // Its hooks are known to its status, before its objects are loaded.
  return (
    deployment.status?.hooks?.onDelete !== undefined || asksOtherwise(deployment, surroundings)
  );
}

function asksOtherwise(
  deployment: BundleDeployment,
  { deployments, applier }: Surroundings,
): boolean {
  const { name = '' } = deployment.metadata;
  return (
    asksForFinalizer(deployment) ||
    deployments.dependentsOf(name).length > 0 ||
    applier.holdsKept(name) ||
    // A new process has not seen yet what may be annotated to be kept.
    (hasFinalizer(deployment) && !applier.knows(name))
  );
}

function asksForFinalizer({ spec }: BundleDeployment): boolean {
  const { deletionPolicy = 'Delete', dependsOn = [], stages } = spec;
  return deletionPolicy !== 'Delete' || dependsOn.length > 0 || stages?.waitForReady === true;
}

/** The same, with the stages and hooks that its objects are annotated to have. */
export function isOrdered(
  {
    deployment,
    objects = [],
    hooks = [],
  }: Pick<BundleDeploymentState, 'deployment' | 'objects' | 'hooks'>,
  surroundings: Surroundings,
): boolean {
  return (
    objects.some((object) => annotatedStage(object) !== undefined) ||
    hooks.some((hook) => hookOf(hook).events.some(isAtDeletion)) ||
    asksOtherwise(deployment, surroundings)
  );
}

export function hasFinalizer({ metadata }: BundleDeployment): boolean {
  return metadata.finalizers?.includes(finalizer.deleteObjects) === true;
}
