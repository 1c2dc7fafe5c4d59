import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import type { ObjectKey } from '../../platform/kube/index.ts';
import type { Ownership } from '../ownership/ownership.ts';
import { OwnershipRefusal } from '../ownership/ownership-check.ts';
import { ownershipMessage } from '../ownership/ownership-message.ts';

/** Something of somebody else's is in a hook's place: the text is that of any other object. */
export function hookRefusal(
  owner: BundleDeployment,
  what: { readonly kind: string; readonly key: ObjectKey },
  ownership: Ownership & { readonly verdict: 'refused' | 'left' },
): OwnershipRefusal {
  const isInstall = (owner.status?.activeBundle ?? '') === '';
  const refused =
    ownership.verdict === 'left'
      ? { ...what, because: `belongs to BundleDeployment "${ownership.to}"` }
      : { ...what, ...ownership };
  const { installFailed, errorGettingReleaseState } = bundleDeploymentReason;
  return new OwnershipRefusal(
    ownershipMessage([refused], owner, isInstall ? 'install' : 'update'),
    { reason: isInstall ? installFailed : errorGettingReleaseState },
  );
}
