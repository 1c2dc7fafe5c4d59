import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { finalizer } from '../../../api/v1alpha1/labels.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';

/**
 * Whether the deletion of a deployment is to be more than the garbage collector's: some objects are
 * to stay, or they are to go in order. What its objects say themselves is not looked at here.
 */
export function needsFinalizer(
  { metadata, spec }: BundleDeployment,
  { deployments, applier }: Pick<BundleDeploymentDependencies, 'deployments' | 'applier'>,
): boolean {
  const { name = '' } = metadata;
  const { deletionPolicy = 'Delete', dependsOn = [], stages } = spec;
  return (
    deletionPolicy !== 'Delete' ||
    dependsOn.length > 0 ||
    stages?.waitForReady === true ||
    deployments.dependentsOf(name).length > 0 ||
    applier.holdsKept(name)
  );
}

export function hasFinalizer({ metadata }: BundleDeployment): boolean {
  return metadata.finalizers?.includes(finalizer.deleteObjects) === true;
}
