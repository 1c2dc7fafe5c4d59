import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { ApiError, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { fieldManager } from '../fields/field-manager.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { desiredObject, isKept } from '../objects/desired.ts';
import { ownershipOf } from '../ownership/ownership.ts';
import type { SharedNamespace } from '../state/owner-state.ts';
import type { NamespaceQuery } from './namespace-content.ts';
import { reasonToStay } from './removal-namespaces.ts';

export interface LeftNamespaces {
  readonly owner: BundleDeployment;
  /** What the owner had its objects in. */
  readonly namespaces: readonly SharedNamespace[];
  /** With the permissions of the owner. */
  readonly client: Pick<KubeClient, 'apply'>;
  readonly inventory: Pick<Inventory, 'put'>;
  readonly systemNamespace: string;
  readonly query: NamespaceQuery & { readonly client: Pick<KubeClient, 'get' | 'list'> };
}

/**
 * Makes those namespaces the owner's, to be deleted with it, that an earlier deployment has left for
 * what was in them, and that hold nothing any more: the last one that goes takes them along. True
 * where there was any.
 */
export async function takeLeftNamespaces(request: LeftNamespaces): Promise<boolean> {
  let taken = false;
  for (const namespace of request.namespaces) {
    if (await takeLeft(request, namespace)) taken = true;
  }
  return taken;
}

async function takeLeft(
  request: LeftNamespaces,
  { id, resource, key }: SharedNamespace,
): Promise<boolean> {
  const { owner, client, inventory, systemNamespace, query } = request;
  const { signal } = query;
  const live = await liveObject(query.client, { resource, key }, signal);
  if (live === undefined || !isFree(live, request)) return false;
  if ((await reasonToStay({ id, key, object: live }, query)) !== undefined) return false;
  const written = { apiVersion: live.apiVersion, kind: live.kind, metadata: { name: key.name } };
  const { object } = desiredObject(written, resource, { owner, systemNamespace });
  const { uid = '', resourceVersion = '' } = live.metadata;
  // Of the very version that was judged: whoever has taken it meanwhile keeps it.
  const metadata = { ...object.metadata, uid, resourceVersion };
  try {
    const options = { fieldManager, force: true, signal };
    inventory.put(resource, await client.apply(resource, { ...object, metadata }, options));
    return true;
  } catch (error) {
    // It was not this one that made it: it may lack the permission, and the namespace stays.
    if (error instanceof ApiError && error.code === 403) return false;
    throw error;
  }
}

function isFree(live: KubernetesObject, { owner, systemNamespace }: LeftNamespaces): boolean {
  if (isKept(live) || live.metadata.deletionTimestamp !== undefined) return false;
  return ownershipOf(live, owner, systemNamespace).verdict === 'adopt';
}
