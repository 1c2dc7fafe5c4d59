import { apiVersionOf } from '../../../api/gvk.ts';
import { parseJson, stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { apiErrorOf } from './api-error.ts';
import type {
  ApplyOptions,
  DeleteOptions,
  KubeClient,
  ListOptions,
  ObjectList,
  PatchOptions,
  RawRequest,
  WatchEvent,
  WatchOptions,
} from './kube-client.ts';
import { acceptMetadata, collectionPath, objectPath, queryString } from './object-url.ts';
import { keyOf, type ObjectKey, type Resource } from './resource.ts';
import type { HttpRequest, HttpTransport } from './transport.ts';
import { watchEvents } from './watch-events.ts';

const readTimeout = 30_000;
/** Milliseconds: the API server itself gives up after 60 s, and its own error says more. */
const slowTimeout = 65_000;

const patchContentType = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const satisfies Record<PatchOptions['type'], string>;

/** KubeClient over HTTP. */
export class HttpKubeClient implements KubeClient {
  readonly #transport: HttpTransport;

  constructor(transport: HttpTransport) {
    this.#transport = transport;
  }

  async get(resource: Resource, key: ObjectKey, signal?: AbortSignal): Promise<KubernetesObject> {
    return await this.#object({ method: 'GET', path: objectPath(resource, key), signal });
  }

  async list(resource: Resource, options: ListOptions = {}): Promise<ObjectList> {
    const { namespace, signal, metadataOnly, ...query } = options;
    const path = collectionPath(resource, namespace) + queryString(query);
    const accept = metadataOnly === true ? acceptMetadata.list : undefined;
    const list = (await this.#json(
      { method: 'GET', path, accept, signal },
      slowTimeout,
    )) as ObjectList & {
      readonly items: readonly KubernetesObject[] | null;
    };
    const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    // Items of built-in kinds come without apiVersion and kind.
    return {
      metadata: list.metadata,
      items: (list.items ?? []).map((item) =>
        metadataOnly === true ? { ...item, ...kind } : { ...kind, ...item },
      ),
    };
  }

  watch(resource: Resource, options: WatchOptions): AsyncIterable<WatchEvent> {
    return watchEvents(this.#transport, resource, options);
  }

  async create(
    resource: Resource,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject> {
    const path = collectionPath(resource, object.metadata.namespace);
    return await this.#write({ method: 'POST', path, body: stringifyJson(object), signal });
  }

  async update(
    resource: Resource,
    object: KubernetesObject,
    signal?: AbortSignal,
  ): Promise<KubernetesObject> {
    const path = objectPath(resource, keyOf(object));
    return await this.#write({ method: 'PUT', path, body: stringifyJson(object), signal });
  }

  async patch(
    { resource, key }: { readonly resource: Resource; readonly key: ObjectKey },
    patch: unknown,
    { type, subresource, dryRun, signal }: PatchOptions,
  ): Promise<KubernetesObject> {
    const query = queryString({ dryRun: dryRun ? 'All' : undefined });
    const path = objectPath(resource, key, subresource) + query;
    const contentType = patchContentType[type];
    return await this.#write({
      method: 'PATCH',
      path,
      contentType,
      body: stringifyJson(patch),
      signal,
    });
  }

  async apply(
    resource: Resource,
    object: KubernetesObject,
    { fieldManager, force, dryRun, signal }: ApplyOptions,
  ): Promise<KubernetesObject> {
    const query = queryString({ fieldManager, force, dryRun: dryRun ? 'All' : undefined });
    return await this.#write({
      method: 'PATCH',
      path: objectPath(resource, keyOf(object)) + query,
      contentType: 'application/apply-patch+yaml',
      body: stringifyJson(object),
      signal,
    });
  }

  async delete(resource: Resource, key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const { propagationPolicy, uid, resourceVersion, dryRun, signal } = options;
    const body = stringifyJson({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy,
      preconditions: { uid, resourceVersion },
      // Not in the query: the API server ignores the query of a request with a body, and would
      // delete.
      dryRun: dryRun === true ? ['All'] : undefined,
    });
    await this.#write({ method: 'DELETE', path: objectPath(resource, key), body, signal });
  }

  async request({ body, ...request }: RawRequest): Promise<unknown> {
    const text = body === undefined ? undefined : stringifyJson(body);
    return await this.#json({ ...request, body: text }, slowTimeout);
  }

  impersonate(account: ServiceAccountRef): KubeClient {
    return new HttpKubeClient(impersonating(this.#transport, account));
  }

  ofCreator(creator: string): KubeClient {
    return new HttpKubeClient(sending(this.#transport, { creator }));
  }

  reserved(): KubeClient {
    return new HttpKubeClient(sending(this.#transport, { isReserved: true }));
  }

  async #write(request: HttpRequest): Promise<KubernetesObject> {
    return (await this.#json(request, slowTimeout)) as KubernetesObject;
  }

  async #object(request: HttpRequest): Promise<KubernetesObject> {
    return (await this.#json(request, readTimeout)) as KubernetesObject;
  }

  async #json(request: HttpRequest, timeout: number): Promise<unknown> {
    const response = await this.#transport.send(request, timeout);
    if (response.status >= 300) throw apiErrorOf(response);
    const type = response.headers['content-type']?.toString() ?? '';
    // Health endpoints answer in plain text.
    return type.includes('json') ? parseJson(response.text) : response.text;
  }
}

function sending(
  transport: HttpTransport,
  more: Pick<HttpRequest, 'creator' | 'isReserved'>,
): HttpTransport {
  return {
    send: async (request, timeout) => await transport.send({ ...request, ...more }, timeout),
    // Watches have a connection each.
    stream: async (request, timeout) => await transport.stream(request, timeout),
  };
}

/** A ServiceAccount's user name at the API server. */
function serviceAccountUser({ namespace, name }: ServiceAccountRef): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/**
 * Sends every request as a ServiceAccount, over the existing connections. It has the groups that
 * its own token would give it; a token would have to be created, renewed and stored.
 */
function impersonating(transport: HttpTransport, account: ServiceAccountRef): HttpTransport {
  // The API server knows a ServiceAccount's groups; naming them would need additional permissions.
  const headers = { 'impersonate-user': serviceAccountUser(account) };
  return {
    send: async (request, timeout) =>
      await transport.send({ ...request, headers: { ...request.headers, ...headers } }, timeout),
    stream: async (request, timeout) =>
      await transport.stream({ ...request, headers: { ...request.headers, ...headers } }, timeout),
  };
}
