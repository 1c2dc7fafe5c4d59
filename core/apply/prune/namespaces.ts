import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { isForbidden, type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { fieldManager, otherManagers } from '../fields/managed-fields.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { desiredObject, isKept } from '../objects/desired.ts';
import { isNamespace } from '../objects/order.ts';
import { ownershipOf } from '../ownership/ownership.ts';
import type { SharedNamespace } from '../state/owner-state.ts';
import { contentOfOthers, type NamespaceQuery } from './namespace-content.ts';
import type { CheckedPlan, RemovalPlan } from './prune-plan.ts';

/**
 * The plan, with namespaces orphaned that core did not make or that hold objects which must stay.
 */
export async function orphanNamespaces(
  plan: RemovalPlan,
  query: NamespaceQuery,
): Promise<CheckedPlan> {
  const orphan = new Map(plan.orphan);
  const undecided = new Map<InventoryEntry, Error>();
  for (const entry of plan.remove.filter(({ resource }) => isNamespace(resource))) {
    try {
      const because = await reasonToStay(entry, query);
      if (because !== undefined) orphan.set(entry, because);
    } catch (error) {
      query.signal.throwIfAborted();
      undecided.set(entry, error instanceof Error ? error : new Error(String(error)));
    }
  }
  return { orphan, remove: plan.remove.filter((entry) => !orphan.has(entry)), undecided };
}

/**
 * Why a namespace that core made must stay. A namespace that is being deleted cannot be kept.
 * @throws Error when the API server does not list its content.
 */
async function reasonToStay(
  { id, key, object }: Pick<InventoryEntry, 'id' | 'key' | 'object'>,
  query: NamespaceQuery,
): Promise<string | undefined> {
  if (object.metadata.deletionTimestamp !== undefined) return undefined;
  const [user] = query.otherUsers(id);
  if (user !== undefined) return `the bundle of BundleDeployment "${user}" contains it too`;
  const [other] = otherManagers(object);
  if (other !== undefined) return `field manager "${other.name}" set fields of it`;
  return await contentOfOthers(key.name, query);
}

interface OrphanedNamespaces {
  readonly owner: BundleDeployment;
  /** Namespaces of the owner's objects. */
  readonly namespaces: readonly SharedNamespace[];
  /** Has the permissions of the owner. */
  readonly client: Pick<KubeClient, 'apply'>;
  readonly inventory: Pick<Inventory, 'put'>;
  readonly systemNamespace: string;
  readonly query: NamespaceQuery;
}

/**
 * Makes empty namespaces the owner's, to be deleted with it, that an earlier deployment orphaned
 * because of their content: the last deployment to go deletes them. True when there were any.
 */
export async function takeOrphanedNamespaces(request: OrphanedNamespaces): Promise<boolean> {
  let taken = false;
  for (const namespace of request.namespaces) {
    if (await takeOrphaned(request, namespace)) taken = true;
  }
  return taken;
}

async function takeOrphaned(
  request: OrphanedNamespaces,
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
  // Bound to the version that was judged: a deployment that took it meanwhile keeps it.
  const metadata = { ...object.metadata, uid, resourceVersion };
  try {
    const options = { fieldManager, force: true, signal };
    inventory.put(resource, await client.apply(resource, { ...object, metadata }, options));
    return true;
  } catch (error) {
    // This deployment did not make the namespace and may lack the permission: the namespace stays.
    if (isForbidden(error)) return false;
    throw error;
  }
}

function isFree(live: KubernetesObject, { owner, systemNamespace }: OrphanedNamespaces): boolean {
  if (isKept(live) || live.metadata.deletionTimestamp !== undefined) return false;
  return ownershipOf(live, owner, systemNamespace).verdict === 'adopt';
}
