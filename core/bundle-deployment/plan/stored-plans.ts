import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  isNotFound,
  type KubeClient,
  liveObject,
  secretResource,
} from '../../platform/kube/index.ts';
import type { FullPlan } from './full-plan.ts';
import { planJson, planSecret, planSecretName } from './plan-secret.ts';

const fieldManager = 'rukpak-core';

export interface StoredPlansOptions {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'delete'>;
  readonly systemNamespace: string;
}

/** Full plans, kept in the cluster: every replica serves them, and a restart loses none. */
export class StoredPlans {
  readonly #options: StoredPlansOptions;

  constructor(options: StoredPlansOptions) {
    this.#options = options;
  }

  async write(deployment: BundleDeployment, plan: FullPlan, signal: AbortSignal): Promise<void> {
    const { client, systemNamespace } = this.#options;
    const secret = await planSecret(deployment, plan, systemNamespace);
    await client.apply(secretResource, secret, { fieldManager, force: true, signal });
  }

  /** As JSON; undefined where there is none. */
  async read(deployment: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const { client } = this.#options;
    const target = { resource: secretResource, key: this.#keyOf(deployment) };
    const secret = await liveObject(client, target, signal);
    return secret === undefined ? undefined : await planJson(secret);
  }

  async remove(deployment: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.client.delete(secretResource, this.#keyOf(deployment), { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #keyOf(deployment: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.#options.systemNamespace, name: planSecretName(deployment) };
  }
}
