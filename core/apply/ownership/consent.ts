import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { isNamespace } from '../objects/order.ts';
import { controllerOf } from '../objects/owner-marks.ts';
import type { OwnerStates } from '../state/owner-state.ts';
import { type Ownership, ownershipOf, takesOwned, transferTargets } from './ownership.ts';

/** Names the deployment that handed an object over, where one did. */
export type ConsentedOwnership =
  | (Ownership & { readonly transferredBy?: BundleDeployment | undefined })
  /** A namespace that is not the owner's: its objects may be in it, and it stays as it is. */
  | { readonly verdict: 'used' };

interface OwnershipSubject {
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
  const { transferredBy } = answer;
  // The former deployment's reference is a field of ours: the apply takes it out.
  const dropControllers = transferredBy === undefined && controllerOf(live) !== undefined;
  return { verdict: 'adopt', dropControllers, transferredBy };
}

/** Nobody is left to hand it over. */
function ofNobody(holder: string): ConsentedOwnership {
  const because = `belonged to BundleDeployment "${holder}", which is gone`;
  return { verdict: 'refused', because, needsAlways: true };
}

interface DeploymentConsentOptions {
  readonly client: Pick<KubeClient, 'get'>;
  /** What this process knows of them (default: nothing). */
  readonly owners?: OwnerStates | undefined;
  readonly signal: AbortSignal;
}

/** Whether an object may go from one deployment to another. */
type Consent =
  /** `transferredBy`: that one gives it, and is to hear of it. */
  { readonly given: true; readonly transferredBy?: BundleDeployment } | { readonly given: false };

/**
 * Asks deployments that have an object whether another one may take it. Reads each of them once; they
 * may be of any class and of other processes, so only the API server knows them all.
 */
export class DeploymentConsent {
  readonly #options: DeploymentConsentOptions;
  readonly #read = new Map<string, Promise<BundleDeployment | undefined>>();

  constructor(options: DeploymentConsentOptions) {
    this.#options = options;
  }

  /**
   * Consent of `holder` that `owner` takes an object: it hands over to it, or it is gone, or is known
   * to want the object no more and the owner takes what others have.
   */
  async toTake(
    {
      holder,
      id,
      live,
    }: { readonly holder: string; readonly id: string; readonly live: KubernetesObject },
    owner: BundleDeployment,
  ): Promise<Consent> {
    const transferredBy = await this.toTransfer(holder, owner);
    if (transferredBy !== undefined) return { given: true, transferredBy };
    if (!takesOwned(owner, live)) return { given: false };
    const { owners } = this.#options;
    const isWanted = owners?.of(owner.metadata.name ?? '').otherHolder(id) !== undefined;
    const isUnwanted = !isWanted && owners?.find(holder)?.isSettled === true;
    return { given: isUnwanted || (await this.isGone(holder)) };
  }

  /**
   * The holder, where it hands over to the owner. Not where a chain of hand-overs leads back to it:
   * the object would never come to rest.
   */
  async toTransfer(holder: string, owner: BundleDeployment): Promise<BundleDeployment | undefined> {
    if (owner.spec.adoption === 'Never') return undefined;
    const from = await this.#deployment(holder);
    if (from === undefined || !transferTargets(from).includes(owner.metadata.name ?? ''))
      return undefined;
    return (await this.#leadsTo(owner, holder)) ? undefined : from;
  }

  /** True for a deployment that does not exist, or is being deleted. */
  async isGone(name: string): Promise<boolean> {
    const deployment = await this.#deployment(name);
    return deployment === undefined || deployment.metadata.deletionTimestamp !== undefined;
  }

  async #leadsTo(from: BundleDeployment, holder: string): Promise<boolean> {
    const seen = new Set(transferTargets(from));
    // Grows while it is walked, until every deployment of the chain is in it.
    for (const name of seen) {
      if (name === holder) return true;
      const next = await this.#deployment(name);
      for (const other of next === undefined ? [] : transferTargets(next)) seen.add(other);
    }
    return false;
  }

  #deployment(name: string): Promise<BundleDeployment | undefined> {
    const { client, signal } = this.#options;
    const target = { resource: bundleDeploymentResource, key: { name } };
    const reading =
      this.#read.get(name) ??
      (liveObject(client, target, signal) as Promise<BundleDeployment | undefined>);
    this.#read.set(name, reading);
    return reading;
  }
}
