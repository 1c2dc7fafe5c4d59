import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { HookRequest } from '../../contracts/hooks.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import { isData, isDataKind } from '../inventory/user-data.ts';
import { type DesiredObject, isKept } from '../objects/desired.ts';
import { isNamespaceOrDefinition } from '../objects/order.ts';
import { belongsTo, isHookObject, trackedUID } from '../objects/owner-marks.ts';
import { hookOf } from './hook.ts';

/** A hook with its resource, key and client. */
export interface Placed extends HookRequest {
  readonly desired: DesiredObject;
  /** Has the permissions of the owner. */
  readonly client: KubeClient;
}

/**
 * True also for an object that a backup restored: its mark names the object, and an earlier
 * deployment.
 */
export function isOfHook(live: KubernetesObject, owner: BundleDeployment): boolean {
  return belongsTo(live, owner) || (isHookObject(live) && trackedUID(live) !== undefined);
}

/** Why a hook must not replace an object that no hook has made. */
export const fromBefore =
  'is still there from before: delete it, ' +
  `or add before-hook-creation to its annotation ${annotation.hookDeletePolicy}`;

/**
 * Why the hook must not replace an object, and what to do. What a hook has made is the hook's to
 * replace; any other object may hold data that no bundle can restore.
 */
export function reasonToStay(
  live: KubernetesObject,
  { hook, desired: { resource } }: Placed,
): string | undefined {
  if (!hookOf(hook).policies.includes('before-hook-creation')) return fromBefore;
  const instead = 'Rename the hook in the bundle, or delete the object yourself';
  if (isKeptByUser(live, hook)) {
    return `is annotated to be kept, so core does not replace it by the hook. ${instead}`;
  }
  if (isHookObject(live) || !isData({ resource, object: live })) return undefined;
  return `may hold data and was not created by a hook, so core does not replace it by the hook. ${instead}`;
}

/**
 * True for the object of an earlier run that the next one must not delete: the API server deletes
 * everything in a Namespace or of a CRD, and data that an earlier deployment has left, or a backup
 * brought back, is there to be used again.
 */
export function isToBeRenewed(
  live: KubernetesObject,
  { owner, desired: { resource } }: Placed,
): boolean {
  return isNamespaceOrDefinition(resource) || (isDataKind(resource) && !belongsTo(live, owner));
}

/** A bundle that keeps its hook's object beyond the deployment still has it replaced in each run. */
export function isKeptByUser(live: KubernetesObject, hook: KubernetesObject): boolean {
  return isKept(live) && !(isHookObject(live) && isKept(hook));
}

/** Writes the marks of the present deployment to exactly this version of the object. */
export async function takeUp(
  live: KubernetesObject,
  { client, desired: { resource, key, object }, owner, signal }: Placed,
): Promise<KubernetesObject> {
  if (belongsTo(live, owner)) return live;
  const { uid, resourceVersion } = live.metadata;
  const { labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  const others = (live.metadata.ownerReferences ?? []).filter(({ controller }) => !controller);
  const patch = {
    metadata: {
      uid,
      resourceVersion,
      labels: {
        [label.ownerKind]: labels[label.ownerKind],
        [label.ownerName]: labels[label.ownerName],
      },
      annotations: { [annotation.trackingID]: annotations[annotation.trackingID] },
      ownerReferences: [...others, ...ownerReferences],
    },
  };
  return await client.patch({ resource, key }, patch, { type: 'merge', signal });
}
