import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { gvkOf } from '../../platform/kube/index.ts';
import { isNamespace } from '../objects/order.ts';
import { controllerOf } from '../objects/owner-marks.ts';
import type { DeploymentConsent } from './deployment-consent.ts';
import { type Ownership, ownershipOf } from './ownership.ts';

/** Names the deployment that handed an object over, where one did. */
export type ConsentedOwnership =
  | (Ownership & { readonly handedOverBy?: BundleDeployment | undefined })
  /** A namespace that is not the owner's: its objects may be in it, and it stays as it is. */
  | { readonly verdict: 'used' };

export interface OwnershipSubject {
  readonly owner: BundleDeployment;
  readonly id: string;
  readonly live: KubernetesObject;
}

/**
 * Judges a live object; what another deployment has may be taken where that one consents. A namespace
 * is never refused: several deployments, and others, may have objects in it.
 */
export async function consentedOwnership(
  subject: OwnershipSubject,
  systemNamespace: string,
  consent: DeploymentConsent,
): Promise<ConsentedOwnership> {
  const ownership = await withConsent(subject, systemNamespace, consent);
  const isUsed = ownership.verdict === 'refused' && isNamespace(gvkOf(subject.live));
  return isUsed ? { verdict: 'used' } : ownership;
}

async function withConsent(
  { owner, id, live }: OwnershipSubject,
  systemNamespace: string,
  consent: DeploymentConsent,
): Promise<ConsentedOwnership> {
  const ownership = ownershipOf(live, owner, systemNamespace);
  if (ownership.verdict !== 'refused' || ownership.deployment === undefined) return ownership;
  const { deployment: holder } = ownership;
  const answer = await consent.toTake({ holder, id, live }, owner);
  if (!answer.given) return (await consent.isGone(holder)) ? ofNobody(holder) : ownership;
  const { handedOverBy } = answer;
  // The former deployment's reference is a field of ours: the apply takes it out.
  const dropControllers = handedOverBy === undefined && controllerOf(live) !== undefined;
  return { verdict: 'adopt', dropControllers, handedOverBy };
}

/** Nobody is left to hand it over. */
function ofNobody(holder: string): ConsentedOwnership {
  const because = `belonged to BundleDeployment "${holder}", which is gone`;
  return { verdict: 'refused', because, needsAlways: true };
}
