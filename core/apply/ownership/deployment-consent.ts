import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import type { OwnerStates } from '../state/owner-state.ts';
import { handsOverTo, takesOwned } from './adoption-level.ts';

export interface DeploymentConsentOptions {
  readonly client: Pick<KubeClient, 'get'>;
  /** What this process knows of them; nothing where absent. */
  readonly owners?: OwnerStates | undefined;
  readonly signal: AbortSignal;
}

/** Whether an object may go from one deployment to another. */
export type Consent =
  /** `handedOverBy`: that one gives it, and is to hear of it. */
  { readonly given: true; readonly handedOverBy?: BundleDeployment } | { readonly given: false };

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
    const handedOverBy = await this.toHandOver(holder, owner);
    if (handedOverBy !== undefined) return { given: true, handedOverBy };
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
  async toHandOver(holder: string, owner: BundleDeployment): Promise<BundleDeployment | undefined> {
    if (owner.spec.adoption === 'Never') return undefined;
    const from = await this.#deployment(holder);
    if (from === undefined || !handsOverTo(from).includes(owner.metadata.name ?? ''))
      return undefined;
    return (await this.#leadsTo(owner, holder)) ? undefined : from;
  }

  /** True for a deployment that does not exist, or is being deleted. */
  async isGone(name: string): Promise<boolean> {
    const deployment = await this.#deployment(name);
    return deployment === undefined || deployment.metadata.deletionTimestamp !== undefined;
  }

  async #leadsTo(from: BundleDeployment, holder: string): Promise<boolean> {
    const seen = new Set(handsOverTo(from));
    // Grows while it is walked, until every deployment of the chain is in it.
    for (const name of seen) {
      if (name === holder) return true;
      const next = await this.#deployment(name);
      for (const other of next === undefined ? [] : handsOverTo(next)) seen.add(other);
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
