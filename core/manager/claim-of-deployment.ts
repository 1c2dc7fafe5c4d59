import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { creatorOf } from '../../api/v1alpha1/index.ts';
import { isBroughtOut, wantedBundle } from '../bundle-deployment/index.ts';
import { type Claim, precedence } from '../platform/runtime/index.ts';

interface Known<T> {
  get(key: { readonly name: string }): T | undefined;
}

/**
 * Whose share of the workers a deployment takes, and how soon. What is further along goes first: its
 * end is told when it comes, and a burst of first installs becomes healthy one after the other.
 */
export function claimOfDeployment(
  name: string,
  {
    deployments,
    bundles,
  }: { readonly deployments: Known<BundleDeployment>; readonly bundles: Known<Bundle> },
): Claim {
  const deployment = deployments.get({ name });
  // All that is left to do is to forget it.
  if (deployment === undefined)
    return { creator: `deployment ${name}`, precedence: precedence.urgent };
  const creator = creatorOf(deployment);
  const { metadata, status } = deployment;
  if (metadata.deletionTimestamp !== undefined) return { creator, precedence: precedence.urgent };
  const isInstalled =
    isBroughtOut(deployment) && status?.observedGeneration === metadata.generation;
  if (isInstalled) return { creator, precedence: precedence.urgent };
  const bundle = bundles.get({ name: wantedBundle(deployment) });
  const isUnpacked = bundle?.status?.phase === 'Unpacked';
  return { creator, precedence: isUnpacked ? precedence.ready : precedence.first };
}
