import { gvkOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  connect,
  isNotFound,
  type KubeConnection,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { ChangeFeed, noteRead } from './changes.ts';
import { eventually } from './eventually.ts';

/** The parts of aggregated discovery that are read here. */
interface GroupList {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly DiscoveredResource[];
    }[];
  }[];
}

interface DiscoveredResource {
  readonly resource: string;
  readonly singularResource?: string;
  readonly shortNames?: readonly string[];
  readonly responseKind?: { readonly kind?: string };
  readonly scope: string;
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const open = new Map<string, ClusterClient>();

/**
 * Reads and writes as kubectl does, kinds by the names that kubectl takes, through one connection of
 * this process: a kubectl costs more processor time than what it asks for. What is read inside of
 * `eventually` is watched from then on.
 */
export class ClusterClient {
  readonly #connection: KubeConnection;
  readonly #end = new AbortController();
  readonly #feeds = new Map<string, ChangeFeed>();
  #names: ReadonlyMap<string, Resource> | undefined;

  private constructor(kubeconfig: string) {
    this.#connection = connect({ kubeconfig, userAgent: 'tests' });
  }

  /** The one of this process for a cluster. */
  static of(kubeconfig: string): ClusterClient {
    const known = open.get(kubeconfig);
    if (known !== undefined) return known;
    const client = new ClusterClient(kubeconfig);
    open.set(kubeconfig, client);
    return client;
  }

  /** Ends the connections and watches of all of them. */
  static async closeAll(): Promise<void> {
    const clients = [...open.values()];
    open.clear();
    for (const client of clients) {
      client.#end.abort();
      await client.#connection.close();
    }
  }

  async get(kind: string, name: string, namespace = 'default'): Promise<KubernetesObject> {
    const resource = await this.#resource(kind);
    this.#note(resource);
    return await this.#connection.client.get(resource, keyIn(resource, namespace, name));
  }

  async exists(kind: string, name: string, namespace = 'default'): Promise<boolean> {
    const resource = await this.#resource(kind);
    return await this.#has(resource, keyIn(resource, namespace, name));
  }

  /** Objects of some kinds, separated by commas, of all namespaces. */
  async list(kinds: string, labelSelector?: string): Promise<readonly KubernetesObject[]> {
    const found: KubernetesObject[] = [];
    for (const kind of kinds.split(',')) {
      const resource = await this.#resource(kind);
      this.#note(resource);
      found.push(...(await this.#connection.client.list(resource, { labelSelector })).items);
    }
    return found;
  }

  /** Server-side apply of each, also after one was refused. */
  async apply(objects: readonly object[], fieldManager = 'e2e'): Promise<void> {
    const errors: unknown[] = [];
    for (const object of objects as readonly KubernetesObject[]) {
      try {
        await this.#apply(object, fieldManager);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('\n'));
  }

  /**
   * Deletes them all at once, and waits for their deletion: kubectl sends only five requests a
   * second.
   */
  async delete(objects: readonly object[]): Promise<void> {
    const left = await Promise.all(
      (objects as readonly KubernetesObject[]).map(async (object) => await this.#delete(object)),
    );
    await eventually(async () => {
      for (const { resource, key } of left.flat()) {
        if (await this.#has(resource, key)) throw new Error(`${resource.kind} ${key.name} is left`);
      }
    });
  }

  /** The deleted object; nothing when it did not exist. */
  async #delete(object: KubernetesObject) {
    const { group, version, kind } = gvkOf(object);
    const resource = await this.#resource(`${kind}.${version}.${group}`).catch(() => undefined);
    if (resource === undefined) return [];
    const { name = '', namespace = 'default' } = object.metadata;
    const key = keyIn(resource, namespace, name);
    try {
      await this.#connection.client.delete(resource, key);
      return [{ resource, key }];
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  async #has(resource: Resource, key: { readonly name: string }): Promise<boolean> {
    this.#note(resource);
    try {
      await this.#connection.client.get(resource, key);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async #apply(object: KubernetesObject, fieldManager: string): Promise<void> {
    const { group, version, kind } = gvkOf(object);
    const resource = await this.#resource(`${kind}.${version}.${group}`);
    const place = resource.namespaced ? { namespace: 'default' } : {};
    const metadata = { ...place, ...object.metadata };
    await this.#connection.client.apply(resource, { ...object, metadata }, { fieldManager });
  }

  #note(resource: Resource): void {
    noteRead(() => {
      const id = `${resource.plural}.${resource.version}.${resource.group}`;
      const known = this.#feeds.get(id);
      if (known !== undefined) return known;
      const feed = new ChangeFeed(this.#connection.client, resource, this.#end.signal);
      this.#feeds.set(id, feed);
      return feed;
    });
  }

  async #resource(name: string): Promise<Resource> {
    const wanted = name.toLowerCase();
    const known = this.#names?.get(wanted);
    if (known !== undefined) return known;
    this.#names = await this.#discover();
    const found = this.#names.get(wanted);
    if (found !== undefined) return found;
    throw new Error(`the server doesn't have a resource type "${name}"`);
  }

  async #discover(): Promise<ReadonlyMap<string, Resource>> {
    const names = new Map<string, Resource>();
    for (const path of ['/api', '/apis']) {
      const request = { method: 'GET', path, accept } as const;
      const list = (await this.#connection.client.request(request)) as GroupList;
      for (const { metadata, versions } of list.items) {
        for (const { version, resources = [] } of versions) {
          const group = metadata?.name ?? '';
          for (const each of resources) addNames(names, each, { group, version });
        }
      }
    }
    return names;
  }
}

/** Of a name in several groups the first group counts, as for kubectl. */
function addNames(
  names: Map<string, Resource>,
  { resource: plural, singularResource, shortNames = [], responseKind, scope }: DiscoveredResource,
  { group, version }: { readonly group: string; readonly version: string },
): void {
  const kind = responseKind?.kind ?? '';
  const resource = { group, version, kind, plural, namespaced: scope === 'Namespaced' };
  for (const each of [plural, singularResource, kind.toLowerCase(), ...shortNames]) {
    if (!each) continue;
    for (const name of [each, `${each}.${group}`, `${each}.${version}.${group}`]) {
      if (!names.has(name)) names.set(name, resource);
    }
  }
}

function keyIn({ namespaced }: Resource, namespace: string, name: string) {
  return namespaced ? { namespace, name } : { name };
}
