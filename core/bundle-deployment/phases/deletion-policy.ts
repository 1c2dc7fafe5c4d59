import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../errors.ts';
import { definitionResource, liveObject } from '../../platform/kube/index.ts';
import { wantedBundle } from '../bundles.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';

/** The API server's, while the garbage collector is yet to orphan what has an ownerReference. */
const orphanDependents = 'orphan';

const definition = `${bundleDeploymentResource.plural}.${bundleDeploymentResource.group}`;

/** `Abandon`: objects stay as they are, marks and all, for a deployment of the same name. */
type PolicyInForce = DeletionPolicy | 'Abandon';

/**
 * What becomes of the objects. `kubectl delete --cascade=orphan` leaves everything: of that the
 * garbage collector takes the finalizer away in a moment, and what lasts is that it has taken the
 * ownerReferences of all Bundles; a single one without may be one that a backup brought back. A cache
 * may not know yet. Whoever deletes our CRD deletes all deployments at once, and none of them for its
 * own sake: they are likely to be restored.
 */
export async function policyInForce(
  deployment: BundleDeployment,
  dependencies: Pick<BundleDeploymentDependencies, 'client' | 'events' | 'defaultDeletionPolicy'>,
  signal: AbortSignal,
): Promise<PolicyInForce> {
  const { metadata, spec } = deployment;
  const { client, defaultDeletionPolicy = 'Delete' } = dependencies;
  const { deletionPolicy = defaultDeletionPolicy } = spec;
  if (deletionPolicy === 'Orphan') return deletionPolicy;
  const { name = '', uid, finalizers = [] } = metadata;
  if (finalizers.includes(orphanDependents)) return 'Orphan';
  if (await goesWithDefinition(dependencies, signal)) {
    const message = `Core leaves all objects of the BundleDeployment as they are: CRD ${definition} is being deleted`;
    dependencies.events.event(deployment, { type: 'Normal', reason: 'ObjectsOrphaned', message });
    return 'Abandon';
  }
  const labelSelector = `${label.ownerKind}=BundleDeployment,${label.ownerName}=${name},${label.templateHash}`;
  const options = { labelSelector, metadataOnly: true, signal };
  const { items } = await client.list(bundleResource, options);
  const names = bundleNames(deployment);
  // Those of a namesake that was deleted before say nothing, nor do those that somebody else made.
  const own = items.filter(
    (bundle) => madeAt(bundle) >= madeAt({ metadata }) && names.has(bundle.metadata.name),
  );
  const isOwned = own.some((bundle) =>
    bundle.metadata.ownerReferences?.some((owner) => owner.uid === uid),
  );
  return own.length > 0 && !isOwned ? 'Orphan' : deletionPolicy;
}

/** Whether the CRD is being deleted, or is gone. What cannot be found out deletes nothing. */
async function goesWithDefinition(
  { client }: Pick<BundleDeploymentDependencies, 'client'>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const target = { resource: definitionResource, key: { name: definition } };
    const live = await liveObject(client, target, signal);
    return live?.metadata.deletionTimestamp !== undefined || live === undefined;
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(
      `core cannot tell whether CRD ${definition} is being deleted, and needs the verb get for it: ${errorMessage(error)}`,
      { cause: error },
    );
  }
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
