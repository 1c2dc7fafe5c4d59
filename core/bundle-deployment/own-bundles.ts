import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { OwnedBundleCache } from './dependencies.ts';

/**
 * The Bundles that were made for a deployment, in any order. Labels alone say nothing: whoever may
 * create Bundles can write them, and what is not the deployment's own is neither installed nor
 * deleted for it.
 */
export function ownBundles(
  deployment: BundleDeployment,
  bundles: Pick<OwnedBundleCache, 'ownedBy'>,
): readonly Bundle[] {
  const labelled = bundles.ownedBy(deployment.metadata.name ?? '');
  return labelled.filter((bundle) => isOwn(bundle, deployment));
}

/** The Bundle of that name, where it was made for the deployment. */
export function ownBundle(
  deployment: BundleDeployment,
  name: string | undefined,
  bundles: Pick<OwnedBundleCache, 'ownedBy'>,
): Bundle | undefined {
  return ownBundles(deployment, bundles).find(({ metadata }) => metadata.name === name);
}

export function isOwn({ metadata }: Bundle, deployment: BundleDeployment): boolean {
  const { uid } = deployment.metadata;
  return metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) === true;
}
