import { gvkOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  collectionPath,
  connect,
  isNotFound,
  type KubeConnection,
  queryString,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { ChangeFeed, noteRead } from './changes.ts';
import { eventually, patiently } from './eventually.ts';

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

export interface DeletionOptions {
  readonly namespace?: string;
  /** Whether to wait until they are gone (default: true). */
  readonly wait?: boolean;
  /** Missing objects and kinds are no error (default: they are). */
  readonly ignoreNotFound?: boolean;
}

interface Existing {
  readonly resource: Resource;
  readonly key: { readonly name: string };
  readonly uid: string | undefined;
}

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

  /** Creates it as the program of that name does. */
  async createAs(fieldManager: string, object: KubernetesObject): Promise<void> {
    const path = collectionPath(await this.#resourceOf(object), object.metadata.namespace);
    await this.#connection.client.request({
      method: 'POST',
      path: `${path}${queryString({ fieldManager, fieldValidation: 'Strict' })}`,
      body: object,
    });
  }

  /** Sends a merge patch as the program of that name does. */
  async patchAs(
    fieldManager: string,
    { object, subresource }: { readonly object: KubernetesObject; readonly subresource?: 'status' },
    body: unknown,
  ): Promise<void> {
    const { name, namespace } = object.metadata;
    const collection = collectionPath(await this.#resourceOf(object), namespace);
    const path = [collection, name, ...(subresource === undefined ? [] : [subresource])].join('/');
    await this.#connection.client.request({
      method: 'PATCH',
      path: `${path}${queryString({ fieldManager })}`,
      contentType: 'application/merge-patch+json',
      body,
    });
  }

  /**
   * Deletes them all at once, and waits for their deletion: kubectl sends only five requests a
   * second.
   */
  async delete(objects: readonly object[]): Promise<void> {
    const found = (objects as readonly KubernetesObject[]).map(async (object) => {
      const { name = '', namespace = 'default' } = object.metadata;
      const options = { namespace, ignoreNotFound: true };
      return await this.#find(unmistakable(object), [name], options);
    });
    await this.#deleteFound((await Promise.all(found)).flat());
  }

  /** As `kubectl delete KINDS NAME…`, in namespace default unless another one is given. */
  async deleteNamed(
    kinds: string,
    names: readonly string[],
    options: DeletionOptions,
  ): Promise<void> {
    const found = kinds.split(',').map((kind) => this.#find(kind, names, options));
    await this.#deleteFound((await Promise.all(found)).flat(), options);
  }

  /**
   * As `kubectl delete KINDS --all`, in namespace default unless another one is given. Kind by kind:
   * a Bundle that goes while its deployment is still there is made anew.
   */
  async deleteAll(kinds: string, options: DeletionOptions & { selector?: string }): Promise<void> {
    for (const kind of kinds.split(',')) await this.#deleteKind(kind, options);
  }

  async #deleteKind(kind: string, options: DeletionOptions & { selector?: string }): Promise<void> {
    const { namespace = 'default', selector, ignoreNotFound = false } = options;
    const resource = await this.#resource(kind).catch(unless(ignoreNotFound));
    if (resource === undefined) return;
    // A kind that was known may be gone.
    const { items } = await this.#connection.client
      .list(resource, { labelSelector: selector })
      .catch((error: unknown) => {
        unless(ignoreNotFound && isNotFound(error))(error);
        return { items: [] };
      });
    const own = items.filter(
      ({ metadata }) => !resource.namespaced || metadata.namespace === namespace,
    );
    const found = own.map((object) => existing(resource, object));
    await this.#deleteFound(found, options);
  }

  /** The objects of one kind. */
  async #find(
    kind: string,
    names: readonly string[],
    { namespace = 'default', ignoreNotFound = false }: DeletionOptions,
  ): Promise<readonly Existing[]> {
    const resource = await this.#resource(kind).catch(unless(ignoreNotFound));
    if (resource === undefined) return [];
    const { client } = this.#connection;
    const found = names.map(async (name) => {
      const key = keyIn(resource, namespace, name);
      const object = await client
        .get(resource, key)
        .catch((error: unknown) => unless(ignoreNotFound && isNotFound(error))(error));
      return object === undefined ? [] : [existing(resource, object)];
    });
    return (await Promise.all(found)).flat();
  }

  /** Waits until each is gone, or another one has its name. */
  async #deleteFound(
    found: readonly Existing[],
    { wait = true }: DeletionOptions = {},
  ): Promise<void> {
    const { client } = this.#connection;
    await Promise.all(
      found.map(async ({ resource, key }) => {
        await client
          .delete(resource, key, { propagationPolicy: 'Background' })
          .catch((error: unknown) => unless(isNotFound(error))(error));
      }),
    );
    if (!wait) return;
    await eventually(async () => {
      for (const { resource, key, uid } of found) {
        const live = await this.#live(resource, key);
        if (live?.metadata.uid !== uid) continue;
        throw new Error(`${resource.kind} ${key.name} is left`);
      }
    }, patiently);
  }

  async #has(resource: Resource, key: { readonly name: string }): Promise<boolean> {
    return (await this.#live(resource, key)) !== undefined;
  }

  async #live(
    resource: Resource,
    key: { readonly name: string },
  ): Promise<KubernetesObject | undefined> {
    this.#note(resource);
    return await this.#connection.client
      .get(resource, key)
      .catch((error: unknown) => unless(isNotFound(error))(error));
  }

  async #apply(object: KubernetesObject, fieldManager: string): Promise<void> {
    const resource = await this.#resourceOf(object);
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

  async #resourceOf(object: KubernetesObject): Promise<Resource> {
    return await this.#resource(unmistakable(object));
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

/** The name of its kind, in its version and group. */
function unmistakable(object: KubernetesObject): string {
  const { group, version, kind } = gvkOf(object);
  return `${kind}.${version}.${group}`;
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

function existing(resource: Resource, { metadata }: KubernetesObject): Existing {
  const { name = '', namespace = '', uid } = metadata;
  return { resource, key: keyIn(resource, namespace, name), uid };
}

/** For an error that is none when it is expected. */
function unless(isExpected: boolean): (error: unknown) => undefined {
  return (error) => {
    if (!isExpected) throw error;
  };
}

function keyIn({ namespaced }: Resource, namespace: string, name: string) {
  return namespaced ? { namespace, name } : { name };
}
