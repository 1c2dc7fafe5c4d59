import type { KubernetesObject } from '../../api/meta.ts';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import type { KubeClient, ObjectKey, Resource } from '../../core/platform/kube/index.ts';
import type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  ObjectList,
  PatchOptions,
  RawRequest,
  WatchEvent,
  WatchOptions,
} from '../../core/platform/kube/kube-client.ts';

/** Passes everything on and writes down what was asked, watches and lists aside. */
export class CountingClient implements KubeClient {
  /** `<verb> <Kind>/<name>` in the order of sending. */
  readonly requests: string[];
  readonly #client: KubeClient;

  constructor(client: KubeClient, requests: string[] = []) {
    this.#client = client;
    this.requests = requests;
  }

  /** The requests since the last call. */
  taken(): string[] {
    return this.requests.splice(0);
  }

  async get(resource: Resource, key: ObjectKey, signal?: AbortSignal): Promise<KubernetesObject> {
    this.#count('get', resource, key.name);
    return await this.#client.get(resource, key, signal);
  }

  async list(resource: Resource, options?: ListOptions): Promise<ObjectList> {
    return await this.#client.list(resource, options);
  }

  watch(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent> {
    return this.#client.watch(resource, options);
  }

  async create(
    resource: Resource,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject> {
    this.#count('create', resource, object.metadata.name);
    return await this.#client.create(resource, object, signal);
  }

  async update(
    resource: Resource,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject> {
    this.#count('update', resource, object.metadata.name);
    return await this.#client.update(resource, object, signal);
  }

  async patch(
    target: { readonly resource: Resource; readonly key: ObjectKey },
    patch: unknown,
    options: PatchOptions,
  ): Promise<KubernetesObject> {
    this.#count('patch', target.resource, target.key.name);
    return await this.#client.patch(target, patch, options);
  }

  async apply(
    resource: Resource,
    object: KubernetesObject,
    options: ApplyOptions,
  ): Promise<KubernetesObject> {
    this.#count('apply', resource, object.metadata.name);
    return await this.#client.apply(resource, object, options);
  }

  async delete(resource: Resource, key: ObjectKey, options?: DeleteOptions): Promise<void> {
    this.#count('delete', resource, key.name);
    await this.#client.delete(resource, key, options);
  }

  async request(request: RawRequest): Promise<unknown> {
    this.requests.push(`${request.method} ${request.path.replace(/\?.*/, '')}`);
    return await this.#client.request(request);
  }

  /** Counted together with the other client's requests. */
  impersonate(account: ServiceAccountRef): KubeClient {
    return new CountingClient(this.#client.impersonate(account), this.requests);
  }

  ofCreator(creator: string): KubeClient {
    return new CountingClient(this.#client.ofCreator(creator), this.requests);
  }

  reserved(): KubeClient {
    return new CountingClient(this.#client.reserved(), this.requests);
  }

  #count(verb: string, resource: Resource, name = ''): void {
    this.requests.push(`${verb} ${resource.kind}/${name}`);
  }
}
