import { isDeepStrictEqual } from 'node:util';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { finalizer } from '../../../api/v1alpha1/labels.ts';
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
 * The API server has the deployment in another state, because somebody changed it or the store was
 * restored: whoever works on it must write nothing, its status neither.
 */
export class OutdatedOwnerError extends Error {
  override readonly name = 'OutdatedOwnerError';
}

/**
 * Refuses to act for a deployment that a restored store lacks, or has in another state: the watch
 * of the objects may notice the restore before that of the deployments.
 * @throws OutdatedOwnerError when the API server has another state of the owner, or another
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
    throw new OutdatedOwnerError(
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

/**
 * The deployment as the API server has it, if nobody has changed its spec or deleted it since core
 * read it: an apply may take minutes, in which somebody pauses it, or wants the former objects again.
 * @throws OutdatedOwnerError otherwise.
 */
export async function unchangedOwner(
  owner: BundleDeployment,
  client: Pick<KubeClient, 'get'>,
  signal: AbortSignal,
): Promise<BundleDeployment> {
  const { name = '', uid, generation, deletionTimestamp } = owner.metadata;
  const target = { resource: bundleDeploymentResource, key: { name } };
  const live = await liveObject(client, target, signal);
  const now = live?.metadata;
  if (
    live === undefined ||
    now?.uid !== uid ||
    now?.generation !== generation ||
    now?.deletionTimestamp !== deletionTimestamp
  ) {
    throw changedSince(owner);
  }
  return live as BundleDeployment;
}

function changedSince({ metadata: { name } }: BundleDeployment): OutdatedOwnerError {
  return new OutdatedOwnerError(
    `BundleDeployment "${name}" changed while core worked on it: core deletes nothing more, and continues with its present spec`,
  );
}

/** Finalizer of the API server after a deletion with `--cascade=orphan`. */
const orphanDependents = 'orphan';

/**
 * The same for a deployment that is being deleted. Who deletes it once more with `--cascade=orphan`,
 * or takes core's finalizer off beside another one, wants to keep the objects: that leaves the
 * generation as it is.
 * @throws OutdatedOwnerError
 */
export async function unchangedDeletion(
  owner: BundleDeployment,
  client: Pick<KubeClient, 'get'>,
  signal: AbortSignal,
): Promise<void> {
  const live = await unchangedOwner(owner, client, signal);
  const { finalizers: before = [] } = owner.metadata;
  const { finalizers: now = [] } = live.metadata;
  const isChanged = (name: string): boolean => before.includes(name) !== now.includes(name);
  if ([finalizer.deleteObjects, orphanDependents].some(isChanged)) throw changedSince(owner);
}
