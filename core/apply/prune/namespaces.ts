import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { errorMessage } from '../../errors.ts';
import {
  ApiError,
  type Discovery,
  isForbidden,
  isNotFound,
  type KubeClient,
  liveObject,
  type NamespacedKinds,
  type Resource,
} from '../../platform/kube/index.ts';
import { fieldManager, otherManagers } from '../fields/managed-fields.ts';
import { type InventoryEntry, identity } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { desiredObject, isKept } from '../objects/desired.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { objectID, objectPath } from '../objects/object-id.ts';
import { isNamespace } from '../objects/order.ts';
import { ownershipOf } from '../ownership/ownership.ts';
import type { SharedNamespace } from '../state/owner-state.ts';
import { listedMetadata } from './listed-metadata.ts';
import type { RemovalPlan } from './prune-plan.ts';

export interface NamespacePlan extends RemovalPlan {
  /**
   * Namespaces of `remove` whose content the API server does not list now: core deletes them later.
   */
  readonly undecided: ReadonlyMap<InventoryEntry, Error>;
}

/**
 * The plan, with namespaces orphaned that core did not make or that hold objects which must stay.
 */
export async function orphanNamespaces(
  plan: RemovalPlan,
  query: NamespaceQuery,
): Promise<NamespacePlan> {
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

/** @throws Error of the first undecided namespace. */
export function throwUndecided(
  { undecided }: Pick<NamespacePlan, 'undecided'>,
  entries: readonly InventoryEntry[],
): void {
  for (const entry of entries) {
    const error = undecided.get(entry);
    if (error !== undefined) throw error;
  }
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
  if (user !== undefined) return `BundleDeployment "${user}" has it in its bundle as well`;
  const [other] = otherManagers(object);
  if (other !== undefined) return `"${other.name}" has set fields of it as well`;
  return await contentOfOthers(key.name, query);
}

export interface NamespaceQuery {
  readonly client: Pick<KubeClient, 'list'>;
  readonly discovery: NamespacedKinds & Pick<Discovery, 'resourceForGroupKind' | 'invalidate'>;
  /** Objects that core deletes too, as `identity` names them. */
  readonly going: ReadonlySet<string>;
  /**
   * Core has sent these deletions: objects of `going` that are not being deleted were spared or
   * replaced, and stay (default: false).
   */
  readonly deletionsSent?: boolean;
  /**
   * UID of the deployment that is being deleted: the garbage collector deletes its dependents too
   * (default: it deletes none).
   */
  readonly ownerUID?: string | undefined;
  /** Other deployments that still use a namespace, by its ID. */
  readonly otherUsers: (id: string) => readonly string[];
  readonly signal: AbortSignal;
}

const concurrentLists = 8;
const pageSize = 100;

/** Objects of the core group that Kubernetes and OpenShift create in each namespace. */
const ofEveryNamespace: ReadonlySet<string> = new Set([
  'ServiceAccount/default',
  'ServiceAccount/builder',
  'ServiceAccount/deployer',
  'ConfigMap/kube-root-ca.crt',
  'ConfigMap/openshift-service-ca.crt',
]);

/** Kinds, with their groups, that only describe other objects or a leader election. */
const passingKinds: ReadonlySet<string> = new Set([
  '/Event',
  'events.k8s.io/Event',
  '/Endpoints',
  'coordination.k8s.io/Lease',
]);

/**
 * Why core must not delete a namespace: an object in it that nobody asked to delete. Undefined when
 * it contains only objects that are being deleted, their dependents, and objects that Kubernetes
 * makes in each namespace. Takes one short request per kind that the cluster serves.
 * @throws Error when the API server does not answer.
 */
export async function contentOfOthers(
  namespace: string,
  query: NamespaceQuery,
): Promise<string | undefined> {
  const { discovery, signal } = query;
  const found: string[] = [];
  try {
    // An aggregated API that did not answer may have been removed since.
    discovery.invalidate();
    const kinds = await discovery.namespacedResources(signal);
    const asked = kinds.filter(({ group, kind }) => !passingKinds.has(`${group}/${kind}`));
    await forEachLimit(asked, concurrentLists, async (resource) => {
      if (found.length > 0) return;
      const others = await ofOthers(resource, namespace, query);
      if (others !== undefined) found.push(others);
    });
  } catch (error) {
    signal.throwIfAborted();
    const message = `core cannot tell what Namespace ${namespace} holds: ${errorMessage(error)}`;
    throw new Error(message, { cause: error });
  }
  return found[0];
}

async function ofOthers(
  resource: Resource,
  namespace: string,
  query: NamespaceQuery,
): Promise<string | undefined> {
  const { client, signal } = query;
  const list = { client, resource, namespace, pageSize, isNone, signal };
  for await (const { metadata } of listedMetadata(list)) {
    const key = { namespace, name: metadata.name ?? '' };
    if (isGoing(objectID(resource, key), metadata, query)) continue;
    if (isOfEveryNamespace(resource, metadata)) continue;
    if (await goesWithItsOwner(metadata, query)) continue;
    return `it holds ${objectPath(resource.kind, key)}, which core does not delete`;
  }
  return undefined;
}

/** Its CRD was deleted meanwhile, or the kind cannot be listed. */
function isNone(error: unknown): boolean {
  return isNotFound(error) || (error instanceof ApiError && error.code === 405);
}

/** An object that somebody recreated is another one, and nobody asked to delete it. */
function isGoing(
  id: string,
  metadata: KubernetesObject['metadata'],
  { going, deletionsSent = false }: NamespaceQuery,
): boolean {
  if (deletionsSent && metadata.deletionTimestamp === undefined) return false;
  return going.has(identity({ id, object: { metadata } }));
}

function isOfEveryNamespace(
  { group, kind }: Resource,
  { name = '', annotations }: KubernetesObject['metadata'],
): boolean {
  if (group !== '') return false;
  // Tokens and pull secrets of ServiceAccounts are deleted together with these.
  const isToken = kind === 'Secret' && annotations?.['kubernetes.io/service-account.name'];
  return Boolean(isToken) || ofEveryNamespace.has(`${kind}/${name}`);
}

/**
 * True for an object whose owner is the deployment, or another object of the namespace, which is
 * judged itself.
 */
async function goesWithItsOwner(
  { ownerReferences = [] }: KubernetesObject['metadata'],
  { discovery, ownerUID, signal }: NamespaceQuery,
): Promise<boolean> {
  for (const reference of ownerReferences) {
    if (ownerUID !== undefined && reference.uid === ownerUID) return true;
    const { group, kind } = gvkOf(reference);
    const owner = await discovery.resourceForGroupKind(group, kind, signal);
    if (owner?.namespaced === true) return true;
  }
  return false;
}

interface OrphanedNamespaces {
  readonly owner: BundleDeployment;
  /** Namespaces of the owner's objects. */
  readonly namespaces: readonly SharedNamespace[];
  /** Has the permissions of the owner. */
  readonly client: Pick<KubeClient, 'apply'>;
  readonly inventory: Pick<Inventory, 'put'>;
  readonly systemNamespace: string;
  readonly query: NamespaceQuery & { readonly client: Pick<KubeClient, 'get' | 'list'> };
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
