import { isDeepStrictEqual } from 'node:util';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isNewer } from '../objects/object-id.ts';
import type { OwnerStates } from './owner-states.ts';

interface RestoreCheck {
  readonly client: Pick<KubeClient, 'get'>;
  readonly inventory: Pick<Inventory, 'rewinds'>;
  readonly owners: OwnerStates;
}

/**
 * The API server's store was restored, and this deployment is not the one that it has now: whoever
 * works on it must write nothing, its status neither.
 */
export class RestoredOwnerError extends Error {
  override readonly name = 'RestoredOwnerError';
}

/**
 * Refuses to act for a deployment that a restored store lacks, or has in another state: the watch
 * of the objects may notice the restore before that of the deployments.
 * @throws RestoredOwnerError when the API server has another state of the owner, or another
 * deployment of the name.
 */
export async function checkRestored(
  owner: BundleDeployment,
  { client, inventory, owners }: RestoreCheck,
  signal: AbortSignal,
): Promise<void> {
  const { name = '' } = owner.metadata;
  const state = owners.of(name);
  const { rewinds } = inventory;
  if (state.checkedRewinds === rewinds) return;
  const target = { resource: bundleDeploymentResource, key: { name } };
  const live = await liveObject(client, target, signal);
  if (live === undefined || !isSame(owner, live as BundleDeployment)) {
    throw new RestoredOwnerError(
      `The data of the API server was restored, and BundleDeployment "${name}" differs from core's copy. ` +
        'Core retries when its watch has caught up',
    );
  }
  state.checkedRewinds = rewinds;
}

/** A write to the restored deployment may have a later version than what was there before. */
function isSame(owner: BundleDeployment, live: BundleDeployment): boolean {
  if (live.metadata.uid !== owner.metadata.uid || isNewer(owner, live)) return false;
  return isDeepStrictEqual(live.spec, owner.spec);
}
