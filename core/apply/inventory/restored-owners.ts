import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { isNewer } from '../objects/object-id.ts';
import type { Inventory } from './inventory.ts';

/**
 * Keeps core from acting upon a deployment that a restored store does not have, or has as it was
 * earlier: the watch of the objects may notice the restore before that of the deployments.
 */
export class RestoredOwners {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #inventory: Pick<Inventory, 'rewinds'>;
  /** How often the inventory had gone back in time when the owner was last read. */
  readonly #checked = new Map<string, number>();

  constructor(client: Pick<KubeClient, 'get'>, inventory: Pick<Inventory, 'rewinds'>) {
    this.#client = client;
    this.#inventory = inventory;
  }

  /** @throws Error where the API server has the owner as it was earlier, or has another one. */
  async check(owner: BundleDeployment, signal: AbortSignal): Promise<void> {
    const { name = '', uid } = owner.metadata;
    const { rewinds } = this.#inventory;
    if ((this.#checked.get(name) ?? 0) === rewinds) return;
    const target = { resource: bundleDeploymentResource, key: { name } };
    const live = await liveObject(this.#client, target, signal);
    if (live === undefined || live.metadata.uid !== uid || isNewer(owner, live)) {
      throw new Error(
        `BundleDeployment "${name}" was restored to an earlier state with the API server's store. ` +
          'Core waits for its watch to tell, and tries again',
      );
    }
    this.#checked.set(name, rewinds);
  }

  forget(name: string): void {
    this.#checked.delete(name);
  }
}
