import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../errors.ts';
import { definitionResource, liveObject } from '../../platform/kube/index.ts';
import { wantedBundle } from '../bundles.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';

/** Finalizer of the API server until the garbage collector has orphaned the dependents. */
const orphanDependents = 'orphan';

const definition = `${bundleDeploymentResource.plural}.${bundleDeploymentResource.group}`;

/** `Abandon`: objects stay unchanged, with their marks, for a deployment of the same name. */
type PolicyInForce = DeletionPolicy | 'Abandon';

/**
 * The policy for the objects. `kubectl delete --cascade=orphan` leaves everything: the garbage
 * collector soon removes its finalizer, but the note of `noteOrphaning` remains as a sign, and so do
 * the missing ownerReferences of all Bundles. One single Bundle without a reference may come from a
 * backup, and a cache may lag. Deleting core's CRD deletes all deployments without anybody meaning
 * one of them: they will probably be restored.
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
  const { name = '', finalizers = [] } = metadata;
  if (finalizers.includes(orphanDependents) || isNoted(deployment)) return 'Orphan';
  if (await goesWithDefinition(dependencies, signal)) {
    const message = `CRD ${definition} is being deleted, so core leaves all objects of this BundleDeployment unchanged. To manage them again, restore the CRD and the BundleDeployment`;
    dependencies.events.event(deployment, { type: 'Normal', reason: 'ObjectsOrphaned', message });
    return 'Abandon';
  }
  const labelSelector = `${label.ownerKind}=BundleDeployment,${label.ownerName}=${name},${label.templateHash}`;
  const options = { labelSelector, metadataOnly: true, signal };
  const { items } = await client.list(bundleResource, options);
  return areOrphaned(items, deployment) ? 'Orphan' : deletionPolicy;
}

/**
 * Notes on the deployment that it was deleted with `--cascade=orphan`: while the deletion waits,
 * somebody may delete the Bundles, which alone would still tell it.
 */
export async function noteOrphaning(
  { deployment }: BundleDeploymentState,
  dependencies: Pick<
    BundleDeploymentDependencies,
    'bundles' | 'client' | 'events' | 'defaultDeletionPolicy'
  >,
  { live, signal }: Pick<PhaseContext, 'live' | 'signal'>,
): Promise<Found> {
  const { name = '', uid = '', finalizers = [] } = deployment.metadata;
  if (isNoted(deployment)) return {};
  const labelled = dependencies.bundles.ownedBy(name);
  const isLikely = finalizers.includes(orphanDependents) || areOrphaned(labelled, deployment);
  if (!isLikely || (await policyInForce(deployment, dependencies, signal)) !== 'Orphan') return {};
  await live.annotate({ [annotation.orphanObjects]: uid });
  return {};
}

/** A copy of the manifest has another UID. */
function isNoted({ metadata: { uid, annotations } }: BundleDeployment): boolean {
  return uid !== undefined && annotations?.[annotation.orphanObjects] === uid;
}

/** Whether the deployment has Bundles, and none with an ownerReference to it. */
function areOrphaned(bundles: readonly KubernetesObject[], deployment: BundleDeployment): boolean {
  const { uid } = deployment.metadata;
  const names = bundleNames(deployment);
  const isOwned = ({ metadata: { ownerReferences = [] } }: KubernetesObject): boolean =>
    ownerReferences.some((owner) => owner.uid === uid);
  const own = bundles.filter(
    (bundle) =>
      names.has(bundle.metadata.name) &&
      isMadeOrAdopted(bundle, deployment) &&
      !(isOwned(bundle) && isTooLate(bundle, deployment)),
  );
  return own.length > 0 && !own.some(isOwned);
}

/**
 * Whether a Bundle may have come after the garbage collector had orphaned the others: core made it
 * before its watch showed the deletion.
 */
function isTooLate(bundle: KubernetesObject, { metadata }: BundleDeployment): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && madeAt(bundle) >= Date.parse(deletionTimestamp);
}

/** Whether the CRD is being deleted, or is deleted. When that is unknown, core deletes nothing. */
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

/**
 * Names of the Bundles that the deployment made, as far as it knows; at least one of them exists.
 */
function bundleNames(deployment: BundleDeployment): ReadonlySet<string | undefined> {
  const { activeBundle, history = [] } = deployment.status ?? {};
  return new Set([wantedBundle(deployment), activeBundle, ...history.map(({ bundle }) => bundle)]);
}

/**
 * False for Bundles of a deleted deployment of the same name, and for foreign ones. A Bundle that is
 * older than the deployment was adopted if its annotation says so, or if it is what core applied.
 */
function isMadeOrAdopted(
  { metadata }: KubernetesObject,
  deployment: Pick<BundleDeployment, 'metadata' | 'status'>,
): boolean {
  const { uid } = deployment.metadata;
  if (uid !== undefined && metadata.annotations?.[annotation.adoptedBy] === uid) return true;
  if (metadata.uid !== undefined && metadata.uid === deployment.status?.applied?.uid) return true;
  return madeAt({ metadata }) >= madeAt(deployment);
}

/** Milliseconds since the epoch; the API server writes whole seconds. */
function madeAt({ metadata }: Pick<KubernetesObject, 'metadata'>): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
