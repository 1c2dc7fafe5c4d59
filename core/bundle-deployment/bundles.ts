import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { BundleTemplate } from '../../api/v1alpha1/bundle-template.ts';
import { creatorOf } from '../../api/v1alpha1/creator.ts';
import { generatedFor } from '../../api/v1alpha1/generated-bundle.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/template-hash.ts';
import { isConflict, isNotFound, type KubeClient } from '../platform/kube/index.ts';
import type { OwnedBundleCache } from './dependencies.ts';
import { isRevision } from './revisions/history.ts';

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

/**
 * Whether a Bundle is the one that the deployment's template of that hash asks for. Its labels alone
 * say nothing: whoever may create Bundles can write them, and would have the deployment install
 * other content.
 */
export function isMadeFrom(
  { metadata, spec }: Bundle,
  { metadata: { name = '' }, spec: { template } }: BundleDeployment,
  hash: string,
): boolean {
  if (metadata.labels?.[label.ownerName] !== name) return false;
  if (metadata.labels[label.ownerKind] !== 'BundleDeployment') return false;
  if (metadata.labels[label.templateHash] !== hash) return false;
  return metadata.name === bundleName(name, hash) && templateHash({ ...template, spec }) === hash;
}

const hashes = new WeakMap<BundleTemplate, string>();

/** The name of the Bundle that a deployment's template asks for. */
export function wantedBundle({ metadata, spec: { template } }: BundleDeployment): string {
  const hash = hashes.get(template) ?? templateHash(template);
  hashes.set(template, hash);
  return bundleName(metadata.name ?? '', hash);
}

/** True where the Bundle of the template was installed, whatever came of it since. */
export function isRolledOut(deployment: BundleDeployment): boolean {
  return deployment.status?.activeBundle === wantedBundle(deployment);
}

/** Of Bundles that no deployment asks for: nothing tells who made them. */
const unknownCreator = 'bundles of no deployment';

/**
 * On whose behalf a Bundle is unpacked: of the creator of its deployment, where that asks for it or
 * has installed it. Labels and owner references alone could be written to use up another one's share.
 */
export function creatorOfBundle(
  bundle: Bundle,
  deployments: { get(key: { readonly name: string }): BundleDeployment | undefined },
): string {
  const owner = generatedFor(bundle);
  const deployment = owner === undefined ? undefined : deployments.get({ name: owner });
  return deployment !== undefined && isOf(bundle, deployment)
    ? creatorOf(deployment)
    : unknownCreator;
}

function isOf(bundle: Bundle, deployment: BundleDeployment): boolean {
  const { status = {} } = deployment;
  const { name, labels } = bundle.metadata;
  if (name === status.activeBundle || isRevision(bundle, status)) return true;
  return isMadeFrom(bundle, deployment, labels?.[label.templateHash] ?? '');
}

/** Deletes exactly this Bundle; one that is gone, or a namesake, is left as it is. */
export async function deleteBundle(
  client: KubeClient,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', uid = '' } = bundle.metadata;
  try {
    await client.delete(bundleResource, { name }, { uid, propagationPolicy: 'Background', signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
