import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import type { KubeClient } from '../../kube/kube-client.ts';
import { wantedBundle } from '../wanted-bundle.ts';

/** The API server's, while the garbage collector is yet to orphan what has an ownerReference. */
const orphanDependents = 'orphan';

/**
 * What becomes of the objects. `kubectl delete --cascade=orphan` leaves everything: of that the
 * garbage collector takes the finalizer away in a moment, and what lasts is that it has taken the
 * ownerReferences of the Bundles. A cache may not know yet.
 */
export async function policyInForce(
  deployment: BundleDeployment,
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<DeletionPolicy> {
  const { metadata, spec } = deployment;
  const { deletionPolicy = 'Delete' } = spec;
  if (deletionPolicy === 'Orphan') return deletionPolicy;
  const { name = '', uid, finalizers = [] } = metadata;
  if (finalizers.includes(orphanDependents)) return 'Orphan';
  const labelSelector = `${label.ownerKind}=BundleDeployment,${label.ownerName}=${name},${label.templateHash}`;
  const options = { labelSelector, metadataOnly: true, signal };
  const { items } = await client.list(bundleResource, options);
  const names = bundleNames(deployment);
  // Those of a namesake that was deleted before say nothing, nor do those that somebody else made.
  const own = items.filter(
    (bundle) => madeAt(bundle) >= madeAt({ metadata }) && names.has(bundle.metadata.name),
  );
  const isOrphaned = own.some(
    (bundle) => bundle.metadata.ownerReferences?.some((owner) => owner.uid === uid) !== true,
  );
  return isOrphaned ? 'Orphan' : deletionPolicy;
}

/** Of the Bundles that the deployment has made, as far as it knows; one of them is there. */
function bundleNames(deployment: BundleDeployment): ReadonlySet<string | undefined> {
  const { activeBundle, history = [] } = deployment.status ?? {};
  return new Set([wantedBundle(deployment), activeBundle, ...history.map(({ bundle }) => bundle)]);
}

/** Milliseconds; the API server knows whole seconds. */
function madeAt({ metadata }: Pick<KubernetesObject, 'metadata'>): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
