import type { Bundle, BundleTemplate } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { creatorOf } from '../../api/v1alpha1/rules/creator.ts';
import { generatedFor, isMadeFrom, isOwn } from '../../api/v1alpha1/rules/generated-bundle.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { isConflict, isNotFound, type KubeClient } from '../platform/kube/index.ts';
import type { OwnedBundleCache } from './dependencies.ts';
import { isRevision } from './revisions/history.ts';
import { believed } from './revisions/noted-status.ts';

/**
 * The Bundles that a deployment owns, in any order. Their labels alone are no proof, because
 * everybody who may create Bundles can write them: core neither installs nor deletes a Bundle that
 * the deployment does not own.
 */
export function ownBundles(
  deployment: BundleDeployment,
  bundles: Pick<OwnedBundleCache, 'ownedBy'>,
): readonly Bundle[] {
  const labelled = bundles.ownedBy(deployment.metadata.name ?? '');
  return labelled.filter((bundle) => isOwn(bundle, deployment));
}

/** The Bundle of that name, if the deployment owns it. */
export function ownBundle(
  deployment: BundleDeployment,
  name: string | undefined,
  bundles: Pick<OwnedBundleCache, 'ownedBy'>,
): Bundle | undefined {
  return ownBundles(deployment, bundles).find(({ metadata }) => metadata.name === name);
}

const hashes = new WeakMap<BundleTemplate, string>();

/** The name of the Bundle for a deployment's template. */
export function wantedBundle({ metadata, spec: { template } }: BundleDeployment): string {
  const hash = hashes.get(template) ?? templateHash(template);
  hashes.set(template, hash);
  return bundleName(metadata.name ?? '', hash);
}

/** True when the Bundle of the template has been installed, even if it failed since. */
export function isRolledOut(deployment: BundleDeployment): boolean {
  return deployment.status?.activeBundle === wantedBundle(deployment);
}

/** Creator of Bundles without a deployment: nothing records who made them. */
const unknownCreator = 'bundles of no deployment';

/**
 * The creator whose share of the workers unpacks a Bundle: that of its deployment, if the
 * deployment's template asks for the Bundle or has it installed. Labels and owner references alone
 * are no proof: with them somebody could use up another creator's share.
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
  const { status = {} } = believed(deployment);
  const { name, labels } = bundle.metadata;
  if (name === status.activeBundle || isRevision(bundle, status)) return true;
  return isMadeFrom(bundle, deployment, labels?.[label.templateHash] ?? '');
}

/**
 * Deletes exactly this Bundle; does nothing when it is gone or was replaced by another one of its
 * name.
 */
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
