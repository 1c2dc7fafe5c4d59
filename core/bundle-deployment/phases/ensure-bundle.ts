import type { OwnerReference } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { isMadeFrom } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import { templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { errorMessage } from '../../errors.ts';
import { isConflict, isNotFound } from '../../platform/kube/index.ts';
import { deleteBundle, ownBundles } from '../bundles.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { createBundle, keepMarks, ownerReferenceTo } from '../desired-bundle.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { isRevision } from '../revisions/history.ts';
import { checkMayUse } from '../source-reader.ts';
import { hasValidBundle } from '../status.ts';

/** Finds or creates the Bundle of the current template. */
export async function ensureBundle(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { deployment } = state;
  const hash = templateHash(deployment.spec.template);
  const labelled = dependencies.bundles.ownedBy(deployment.metadata.name ?? '');
  const found = labelled.find((bundle) => isMadeFrom(bundle, deployment, hash));
  const { signal } = context;
  const surroundings = { dependencies, signal };
  let bundle: Bundle | undefined;
  try {
    if (found !== undefined) {
      checkMayUse(found, deployment, dependencies);
      const own = await adoptBundle(found, deployment, surroundings);
      bundle = await keepMarks(own, deployment, surroundings);
      await adoptRevisions(state, labelled, surroundings);
      return { bundle };
    }
    await deleteAbandoned(state, surroundings);
    return { bundle: await createBundle(deployment, dependencies, context) };
  } catch (error) {
    const outcome = {
      status: 'Unknown',
      reason: bundleDeploymentReason.reconcileFailed,
      message: errorMessage(error),
    } as const;
    const status = hasValidBundle(state.status, outcome, dependencies.clock);
    return { status, error, ...(bundle !== undefined && { bundle }) };
  }
}

/**
 * A backup drops the owners of earlier Bundles that the status names. Adopts only those whose name
 * matches their content, because anybody may create a Bundle of that name.
 */
async function adoptRevisions(
  { deployment, status }: BundleDeploymentState,
  labelled: readonly Bundle[],
  surroundings: Surroundings,
): Promise<void> {
  for (const bundle of labelled) {
    const hash = bundle.metadata.labels?.[label.templateHash] ?? '';
    const isNamed = bundle.metadata.name === status.activeBundle || isRevision(bundle, status);
    if (!isNamed || !isMadeFrom(bundle, deployment, hash)) continue;
    await adoptBundle(bundle, deployment, surroundings);
  }
}

/**
 * Deletes Bundles of earlier templates that never became active. Bundles older than the active one
 * were active themselves, and stay until it is healthy.
 */
async function deleteAbandoned(
  { deployment, status }: BundleDeploymentState,
  { dependencies: { bundles, client }, signal }: Surroundings,
): Promise<void> {
  const owned = ownBundles(deployment, bundles);
  const active = owned.find(({ metadata }) => metadata.name === status.activeBundle);
  for (const bundle of owned) {
    if (active !== undefined && madeAt(bundle) <= madeAt(active)) continue;
    if (bundle.metadata.deletionTimestamp !== undefined) continue;
    if (isRevision(bundle, status)) continue;
    await deleteBundle(client, bundle, signal);
  }
}

/** Milliseconds since the epoch; the API server writes whole seconds. */
function madeAt({ metadata }: Bundle): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

interface Surroundings {
  readonly dependencies: Pick<BundleDeploymentDependencies, 'client' | 'bundles'>;
  readonly signal: AbortSignal;
}

/**
 * Makes the deployment the owner of its template's Bundle when an earlier deployment of the name
 * orphaned it, or owned it: the garbage collector would delete it while it is in use, and until then
 * it would look as if this deployment had orphaned it. The Bundle is then deleted with the
 * deployment, or after the next version.
 */
async function adoptBundle(
  bundle: Bundle,
  deployment: BundleDeployment,
  surroundings: Surroundings,
): Promise<Bundle> {
  if (!isFree(bundle, deployment)) return bundle;
  try {
    if (!(await mayOwn(deployment, surroundings))) return bundle;
    return await writeOwner(bundle, deployment, surroundings);
  } catch (error) {
    // The cache will soon show the Bundle's new state.
    if (isNotFound(error) || isConflict(error)) return bundle;
    throw error;
  }
}

function isFree({ metadata }: Bundle, deployment: BundleDeployment): boolean {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller);
  const isLeft = controller === undefined || isOfFormer(controller, deployment);
  return metadata.deletionTimestamp === undefined && isLeft;
}

/** Of a deployment of the name that is gone, since this one has the name. */
function isOfFormer(owner: OwnerReference, deployment: BundleDeployment): boolean {
  const { apiVersion, kind, name, uid } = ownerReferenceTo(deployment);
  const isNamesake = owner.apiVersion === apiVersion && owner.kind === kind && owner.name === name;
  return isNamesake && owner.uid !== uid;
}

async function writeOwner(
  { metadata: { name = '', uid = '', resourceVersion = '', ownerReferences = [] } }: Bundle,
  deployment: BundleDeployment,
  { dependencies: { client, bundles }, signal }: Surroundings,
): Promise<Bundle> {
  const others = ownerReferences.filter((owner) => !owner.controller);
  const owners = [...others, ownerReferenceTo(deployment)];
  // Outlasts the reference, which the garbage collector removes when it orphans the Bundle.
  const annotations = { [annotation.adoptedBy]: deployment.metadata.uid };
  // The API server refuses the patch when somebody changed the Bundle meanwhile.
  const patch = { metadata: { uid, resourceVersion, annotations, ownerReferences: owners } };
  const target = { resource: bundleResource, key: { name } };
  const adopted = (await client.patch(target, patch, { type: 'merge', signal })) as Bundle;
  bundles.upsertIfNewer(adopted);
  return adopted;
}

/** The cache may not show yet that the deployment is deleted and orphans its Bundles. */
async function mayOwn(
  { metadata: { name = '', uid } }: BundleDeployment,
  { dependencies: { client }, signal }: Surroundings,
): Promise<boolean> {
  const { metadata } = await client.get(bundleDeploymentResource, { name }, signal);
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}
