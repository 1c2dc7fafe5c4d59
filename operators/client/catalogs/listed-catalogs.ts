import type { Catalog } from '../../../api/catalogd/v1alpha1/index.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ClusterCatalog } from '../../../api/olm/v1/index.ts';
import { isNotFound, type KubeClient, type Resource } from '../../../core/controller.ts';
import {
  type AbsentCatalog,
  type CatalogIdentity,
  type CatalogKind,
  catalogAdapter,
  clusterCatalogAdapter,
  type ServingCatalog,
} from '../../catalogs/index.ts';

/** A catalog whose content can be read at a URL that takes parameters `schema`, `package`, `name`. */
export interface AddressedCatalog {
  readonly catalog: ServingCatalog;
  readonly url: string;
}

/** The catalogs of a cluster by their statuses. */
export interface ListedCatalogs {
  /** By descending priority, and by name. */
  readonly serving: readonly AddressedCatalog[];
  /** By name. */
  readonly absent: readonly AbsentCatalog[];
  /** The kinds that the cluster serves. */
  readonly kinds: ReadonlySet<CatalogKind>;
}

/** @throws ApiError, unless the cluster does not serve a kind */
export async function listCatalogs(
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<ListedCatalogs> {
  const kinds = new Set<CatalogKind>();
  const serving: AddressedCatalog[] = [];
  const absent: AbsentCatalog[] = [];
  for (const reader of readers) {
    const { kind, resource } = reader.adapter;
    const objects = await objectsOf(client, resource, signal);
    if (objects === undefined) continue;
    kinds.add(kind);
    for (const found of objects.map((object) => readCatalog(reader, object))) {
      if ('url' in found) serving.push(found);
      else absent.push(found);
    }
  }
  return {
    serving: serving.toSorted(
      (a, b) => b.catalog.priority - a.catalog.priority || byName(a.catalog, b.catalog),
    ),
    absent: absent.toSorted(byName),
    kinds,
  };
}

/** Undefined if the cluster does not serve the kind. */
async function objectsOf(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly KubernetesObject[] | undefined> {
  try {
    return (await client.list(resource, { signal })).items;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const readers = [
  // Unlike `api/v1/metas`, this is never the content of a ClusterCatalog of the same name.
  { adapter: catalogAdapter, urlOf: ({ status }: Catalog) => status?.contentURL },
  {
    adapter: clusterCatalogAdapter,
    urlOf: ({ status }: ClusterCatalog) =>
      status?.urls === undefined ? undefined : `${status.urls.base}/api/v1/metas`,
  },
] as const;

function readCatalog(
  { adapter, urlOf }: (typeof readers)[number],
  object: KubernetesObject,
): AddressedCatalog | AbsentCatalog {
  const { labels, priority, isAvailable, remembered } = adapter.read(object);
  const { name = '' } = object.metadata;
  const identity: CatalogIdentity = { kind: adapter.kind, name, labels, priority };
  const url = urlOf(object as Catalog & ClusterCatalog);
  const { resolvedRef, isServed, problem } = remembered;
  if (!isAvailable) return { ...identity, state: 'Unavailable', problem: 'it is switched off' };
  if (url !== undefined && resolvedRef !== undefined && isServed) {
    return { catalog: { ...identity, resolvedRef, problem }, url };
  }
  return {
    ...identity,
    state: problem === undefined ? 'Pending' : 'Failed',
    problem: problem ?? '',
  };
}

function byName(a: CatalogIdentity, b: CatalogIdentity): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.kind < b.kind ? -1 : 1;
}
