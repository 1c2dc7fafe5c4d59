import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { errorMessage } from '../../errors.ts';
import {
  type Discovery,
  definitionResource,
  hasCode,
  isNotFound,
  type KubeClient,
  listedMetadata,
  liveObject,
  type NamespacedKinds,
  type Resource,
} from '../../platform/kube/index.ts';
import { identity } from '../inventory/entry.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { objectID, objectPath } from '../objects/object-id.ts';

export interface NamespaceQuery {
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly discovery: NamespacedKinds & Pick<Discovery, 'resourceForGroupKind' | 'invalidate'>;
  /** Objects that core deletes too, as `identity` names them. */
  readonly going: ReadonlySet<string>;
  /**
   * Core has sent these deletions: what is not being deleted was spared or replaced, and stays
   * (default: false).
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

/**
 * Kinds, with their groups, that only describe other objects or a leader election. Core does not
 * look at their objects.
 */
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
    const asked = kinds.filter((kind) => !isPassing(kind));
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
  try {
    for await (const { metadata } of listedMetadata({
      client,
      resource,
      namespace,
      pageSize,
      signal,
    })) {
      const key = { namespace, name: metadata.name ?? '' };
      if (isGoing(objectID(resource, key), metadata, query)) continue;
      if (isOfEveryNamespace(resource, metadata)) continue;
      if (await goesWithItsOwners(resource, metadata, query)) continue;
      return `it holds ${objectPath(resource.kind, key)}, which core does not delete`;
    }
  } catch (error) {
    if (!(await isNone(error, resource, query))) throw error;
  }
  return undefined;
}

/** Whether an error means that there are no objects: the kind cannot be listed, or is gone. */
async function isNone(
  error: unknown,
  { plural, group }: Resource,
  { client, signal }: NamespaceQuery,
): Promise<boolean> {
  if (hasCode(error, 405)) return true;
  if (!isNotFound(error)) return false;
  // Its CRD may serve another version by now, in which its objects exist.
  const target = { resource: definitionResource, key: { name: `${plural}.${group}` } };
  const definition = await liveObject(client, target, signal);
  return definition === undefined || definition.metadata.deletionTimestamp !== undefined;
}

/**
 * True for an object that is being deleted, and, before core has sent its deletions, for those that
 * it will delete. An object that somebody recreated is another one, and nobody asked to delete it.
 */
function isGoing(
  id: string,
  metadata: KubernetesObject['metadata'],
  { going, deletionsSent = false }: NamespaceQuery,
): boolean {
  if (metadata.deletionTimestamp !== undefined) return !orphansDependents(metadata);
  return !deletionsSent && going.has(identity({ id, object: { metadata } }));
}

/** Its dependents are to outlive it, and the garbage collector has not freed them yet. */
function orphansDependents({ finalizers = [] }: KubernetesObject['metadata']): boolean {
  return finalizers.includes('orphan');
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
 * True for an object whose owners all go: each is the deployment, or another object of the
 * namespace, which core looks at itself.
 */
async function goesWithItsOwners(
  resource: Resource,
  { ownerReferences = [] }: KubernetesObject['metadata'],
  { discovery, ownerUID, signal }: NamespaceQuery,
): Promise<boolean> {
  for (const reference of ownerReferences) {
    if (ownerUID !== undefined && reference.uid === ownerUID) continue;
    const { group, kind } = gvkOf(reference);
    const owner = await discovery.resourceForGroupKind(group, kind, signal);
    if (owner?.namespaced !== true) return false;
    if (isPassing(owner) && !isMirrored(resource, owner)) return false;
  }
  return ownerReferences.length > 0;
}

function isPassing({ group, kind }: Resource): boolean {
  return passingKinds.has(`${group}/${kind}`);
}

/** Kubernetes makes EndpointSlices of Endpoints. */
function isMirrored({ group, kind }: Resource, owner: Resource): boolean {
  return group === 'discovery.k8s.io' && kind === 'EndpointSlice' && owner.kind === 'Endpoints';
}
