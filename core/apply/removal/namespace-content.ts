import type { KubernetesObject } from '../../../api/meta.ts';
import { errorMessage } from '../../errors.ts';
import {
  ApiError,
  type Discovery,
  gvkOf,
  isNotFound,
  type KubeClient,
  type NamespacedKinds,
  type Resource,
} from '../../platform/kube/index.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { objectID, objectPath } from '../objects/object-id.ts';

export interface NamespaceQuery {
  readonly client: Pick<KubeClient, 'list'>;
  readonly discovery: NamespacedKinds & Pick<Discovery, 'resourceForGroupKind' | 'invalidate'>;
  /** IDs of objects that are to go. */
  readonly going: ReadonlySet<string>;
  /** UID of the deployment: what the garbage collector deletes with it goes as well. */
  readonly ownerUID: string;
  /** The deployments besides the owner that go on using a namespace, by its ID. */
  readonly otherUsers: (id: string) => readonly string[];
  readonly signal: AbortSignal;
}

const concurrentLists = 8;
const pageSize = 100;

/** What Kubernetes and OpenShift put into each namespace themselves, by kind and name. */
const ofEveryNamespace: ReadonlySet<string> = new Set([
  'ServiceAccount/default',
  'ServiceAccount/builder',
  'ServiceAccount/deployer',
  'ConfigMap/kube-root-ca.crt',
  'ConfigMap/openshift-service-ca.crt',
]);

/** Kinds that say something of other objects, or of who leads, and hold nothing of anybody's. */
const passingKinds: ReadonlySet<string> = new Set(['Event', 'Endpoints', 'Lease']);

/**
 * Why a namespace cannot go: something is in it that would go with it unasked. Undefined where it
 * holds nothing but what is to go, what belongs to that, and what Kubernetes makes in each namespace.
 * One short request for each kind that the cluster serves.
 * @throws Error where the API server does not tell.
 */
export async function contentOfOthers(
  namespace: string,
  query: NamespaceQuery,
): Promise<string | undefined> {
  const { discovery, signal } = query;
  const found: string[] = [];
  try {
    // An API that did not answer may have gone since.
    discovery.invalidate();
    const kinds = await discovery.namespacedResources(signal);
    const asked = kinds.filter(({ kind }) => !passingKinds.has(kind));
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
  const { client, going, signal } = query;
  let next: string | undefined;
  do {
    const page = { limit: pageSize, ...(next === undefined ? {} : { continue: next }) };
    const { items, metadata } = await listed(resource, { namespace, ...page }, { client, signal });
    for (const { metadata } of items) {
      const key = { namespace, name: metadata.name ?? '' };
      if (going.has(objectID(resource, key)) || isOfEveryNamespace(resource, metadata)) continue;
      if (await goesWithItsOwner(metadata, query)) continue;
      return `it holds ${objectPath(resource.kind, key)}, which core does not delete`;
    }
    next = metadata.continue;
  } while (next !== undefined && next !== '');
  return undefined;
}

async function listed(
  resource: Resource,
  page: { readonly namespace: string; readonly limit: number; readonly continue?: string },
  { client, signal }: Pick<NamespaceQuery, 'client' | 'signal'>,
): ReturnType<KubeClient['list']> {
  try {
    return await client.list(resource, { ...page, metadataOnly: true, signal });
  } catch (error) {
    // Its CRD is gone by now, or there is nothing to list.
    const isNone = isNotFound(error) || (error instanceof ApiError && error.code === 405);
    if (!isNone) throw error;
    return { metadata: { resourceVersion: '' }, items: [] };
  }
}

function isOfEveryNamespace(
  { kind }: Resource,
  { name = '', annotations }: KubernetesObject['metadata'],
): boolean {
  // Tokens and pull secrets that a cluster makes for ServiceAccounts go with these.
  const isToken = kind === 'Secret' && annotations?.['kubernetes.io/service-account.name'];
  return Boolean(isToken) || ofEveryNamespace.has(`${kind}/${name}`);
}

/** True for what another object of the namespace has, which is judged itself, or the deployment. */
async function goesWithItsOwner(
  { ownerReferences = [] }: KubernetesObject['metadata'],
  { discovery, ownerUID, signal }: NamespaceQuery,
): Promise<boolean> {
  for (const reference of ownerReferences) {
    if (reference.uid === ownerUID) return true;
    const { group, kind } = gvkOf(reference);
    const owner = await discovery.resourceForGroupKind(group, kind, signal);
    if (owner?.namespaced === true) return true;
  }
  return false;
}
