import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { creatorOf } from '../../api/v1alpha1/creator.ts';
import { generatedFor } from '../../api/v1alpha1/generated-bundle.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { isMadeFrom } from './is-made-from.ts';
import { isRevision } from './revisions/history.ts';

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
