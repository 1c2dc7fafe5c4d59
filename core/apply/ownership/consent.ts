import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { isNamespace } from '../objects/order.ts';
import { controllerOf, isHookObject } from '../objects/owner-marks.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { type Ownership, ownershipOf, takesOwned, transferTargets } from './ownership.ts';

/** The verdict on a live object; names the deployment that transferred it, if any. */
export type ConsentedOwnership =
  | (Ownership & { readonly transferredBy?: BundleDeployment | undefined })
  /**
   * A namespace that is not the owner's: the owner may have objects in it, and leaves it unchanged.
   */
  | { readonly verdict: 'used' };

interface OwnershipSubject {
  readonly owner: BundleDeployment;
  readonly id: string;
  readonly live: KubernetesObject;
}

/**
 * Judges a live object. Core may take another deployment's object when that deployment consents. It
 * never refuses a namespace: several deployments, and others, may have objects in it.
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
  // The former deployment's reference is a field of core: the apply removes it.
  const dropControllers = transferredBy === undefined && controllerOf(live) !== undefined;
  return { verdict: 'adopt', dropControllers, transferredBy };
}

/** The holder no longer exists, so it cannot transfer the object. */
function ofNobody(holder: string): ConsentedOwnership {
  const because = `belonged to BundleDeployment "${holder}", which no longer exists`;
  return { verdict: 'refused', because, needsAlways: true };
}

interface DeploymentConsentOptions {
  readonly client: Pick<KubeClient, 'get'>;
  /** What this process remembers of deployments (default: nothing). */
  readonly owners?: OwnerStates | undefined;
  readonly signal: AbortSignal;
}

/** Whether an object may change its deployment. */
type Consent =
  /** `transferredBy`: the consenting deployment, which is woken afterwards. */
  { readonly given: true; readonly transferredBy?: BundleDeployment } | { readonly given: false };

/**
 * Finds out whether the deployments that have an object let another one take it. Reads each of them
 * once from the API server, because they may be of any class and other processes may reconcile
 * them.
 */
export class DeploymentConsent {
  readonly #options: DeploymentConsentOptions;
  readonly #read = new Map<string, Promise<BundleDeployment | undefined>>();

  constructor(options: DeploymentConsentOptions) {
    this.#options = options;
  }

  /**
   * Whether `holder` lets `owner` take an object: it transfers ownership to it, or it no longer
   * exists, or it no longer wants the object and the owner takes owned objects.
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
    // Objects of hooks are in no set, and are their deployment's as long as it exists.
    const isWanted =
      isHookObject(live) || owners?.of(owner.metadata.name ?? '').otherHolder(id) !== undefined;
    const isUnwanted = !isWanted && owners?.find(holder)?.isSettled === true;
    return { given: isUnwanted || (await this.isGone(holder)) };
  }

  /**
   * The holder, when it transfers ownership to the owner. Undefined when a chain of transfers leads
   * back to the holder: the object would change deployments for ever.
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
    // The set grows during the loop, until it has every deployment of the chain.
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
