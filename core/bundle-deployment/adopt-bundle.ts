import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { isConflict, isNotFound } from '../platform/kube/index.ts';
import type { BundleDeploymentDependencies } from './dependencies.ts';
import { ownerReferenceTo } from './desired-bundle.ts';

interface Surroundings {
  readonly dependencies: Pick<BundleDeploymentDependencies, 'client' | 'bundles'>;
  readonly signal: AbortSignal;
}

/**
 * Makes the deployment the owner of the Bundle that its template asks for where that has none: one
 * that an earlier deployment of that name has left. It goes with the deployment then, and with the
 * next version.
 */
export async function adoptBundle(
  bundle: Bundle,
  deployment: BundleDeployment,
  surroundings: Surroundings,
): Promise<Bundle> {
  if (!isFree(bundle)) return bundle;
  try {
    if (!(await mayOwn(deployment, surroundings))) return bundle;
    return await writeOwner(bundle, deployment, surroundings);
  } catch (error) {
    // The cache is yet to tell what has become of it.
    if (isNotFound(error) || isConflict(error)) return bundle;
    throw error;
  }
}

function isFree({ metadata: { ownerReferences = [], deletionTimestamp } }: Bundle): boolean {
  return deletionTimestamp === undefined && !ownerReferences.some((owner) => owner.controller);
}

async function writeOwner(
  { metadata: { name = '', uid = '', resourceVersion = '', ownerReferences = [] } }: Bundle,
  deployment: BundleDeployment,
  { dependencies: { client, bundles }, signal }: Surroundings,
): Promise<Bundle> {
  const owners = [...ownerReferences, ownerReferenceTo(deployment)];
  // Refused where somebody else was quicker.
  const patch = { metadata: { uid, resourceVersion, ownerReferences: owners } };
  const target = { resource: bundleResource, key: { name } };
  const adopted = (await client.patch(target, patch, { type: 'merge', signal })) as Bundle;
  bundles.upsertIfNewer(adopted);
  return adopted;
}

/** The cache may not know yet that the deployment is deleted, and that it leaves its Bundles. */
async function mayOwn(
  { metadata: { name = '', uid } }: BundleDeployment,
  { dependencies: { client }, signal }: Surroundings,
): Promise<boolean> {
  const { metadata } = await client.get(bundleDeploymentResource, { name }, signal);
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}
