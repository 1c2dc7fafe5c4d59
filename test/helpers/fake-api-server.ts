import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { apiVersionOf } from '../../api/gvk.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { collectionPath, keyOf, type Resource } from '../../core/platform/kube/index.ts';
import { objectPath } from '../../core/platform/kube/object-url.ts';

interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Stored {
  readonly resource: Resource;
  object: KubernetesObject;
}

type Answer = (request: SeenRequest) => unknown;

/** As much of an API server as a command line asks of it: objects by name, lists by label, merge patches. */
export class FakeApiServer {
  readonly requests: SeenRequest[] = [];
  /** File of a kubeconfig. */
  kubeconfig = '';
  /** The webhook's answer to each deletion. */
  warning: string | undefined;
  /** Whether it breaks each connection at the first request. */
  isDown = false;
  readonly #objects = new Map<string, Stored>();
  readonly #resources = new Set<Resource>();
  readonly #answers = new Map<string, Answer>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #folder = '';

  static async start(): Promise<FakeApiServer> {
    const fake = new FakeApiServer();
    // While this process hangs on a busy machine, it would end a connection that its client is using.
    fake.#server.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    const { port } = fake.#server.address() as AddressInfo;
    fake.#folder = await mkdtemp(join(tmpdir(), 'fake-api-server-'));
    fake.kubeconfig = join(fake.#folder, 'kubeconfig');
    const server = `http://127.0.0.1:${port}`;
    const config = {
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user: { token: 'secret' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(fake.kubeconfig, JSON.stringify(config));
    return fake;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true });
  }

  /** Forgets objects, answers and requests. */
  reset(): void {
    this.requests.length = 0;
    this.warning = undefined;
    this.isDown = false;
    this.#objects.clear();
    this.#answers.clear();
    this.#resources.clear();
  }

  serve(...resources: readonly Resource[]): void {
    for (const resource of resources) this.#resources.add(resource);
  }

  put(resource: Resource, object: KubernetesObject): void {
    this.serve(resource);
    this.#objects.set(objectPath(resource, keyOf(object)), { resource, object });
  }

  get(resource: Resource, name: string, namespace?: string): KubernetesObject | undefined {
    const key = namespace === undefined ? { name } : { name, namespace };
    return this.#objects.get(objectPath(resource, key))?.object;
  }

  /** The answer of a path, JSON or a text, or a promise of one; a Status has its HTTP status. */
  answer(path: string, answer: Answer): void {
    this.#answers.set(path, answer);
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isDown) {
      incoming.destroy();
      return;
    }
    const url = new URL(incoming.url ?? '/', 'http://fake');
    const { method = 'GET', headers } = incoming;
    const body = await text(incoming);
    const request = { method, path: url.pathname, query: url.searchParams, headers, body };
    this.requests.push(request);
    if (this.warning !== undefined && method === 'DELETE') {
      response.setHeader('warning', `299 - ${JSON.stringify(this.warning)}`);
    }
    const answer = await this.#answerTo(request);
    if (typeof answer === 'string') {
      response.end(answer);
      return;
    }
    const found = answer ?? { kind: 'Status', code: 404, message: `${url.pathname} not found` };
    const { kind, code } = found as { readonly kind?: unknown; readonly code?: unknown };
    response.statusCode = kind === 'Status' && typeof code === 'number' ? code : 200;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(found));
  }

  #answerTo(request: SeenRequest): unknown {
    const given = this.#answers.get(request.path);
    if (given !== undefined) return given(request);
    if (request.path === '/api' || request.path === '/apis') return this.#discovery(request.path);
    const stored = this.#objects.get(request.path);
    if (stored === undefined) return this.#watch(request) ?? this.#list(request);
    // As an API server: with a body, the query counts for nothing.
    if (request.method === 'DELETE' && !JSON.parse(request.body).dryRun) {
      this.#objects.delete(request.path);
    }
    if (request.method === 'PATCH') {
      stored.object = merged(stored.object, JSON.parse(request.body)) as KubernetesObject;
    }
    return stored.object;
  }

  /** Streams no lists, and leaves other watches open without an event. */
  #watch({ query }: SeenRequest): unknown {
    if (query.get('watch') !== 'true') return undefined;
    const bookmark = { type: 'BOOKMARK', object: { metadata: {} } };
    if (query.get('sendInitialEvents') === 'true') return `${JSON.stringify(bookmark)}\n`;
    return new Promise(() => undefined);
  }

  #list({ path, query }: SeenRequest): object | undefined {
    const items = [...this.#objects.values()].filter(
      ({ resource, object }) =>
        (path === collectionPath(resource) ||
          path === collectionPath(resource, object.metadata.namespace)) &&
        isSelected(object, query.get('labelSelector') ?? ''),
    );
    const isServed = [...this.#resources].some(({ plural }) => path.endsWith(`/${plural}`));
    if (!isServed) return undefined;
    return {
      kind: 'List',
      metadata: { resourceVersion: '1' },
      items: items.map(({ object }) => object),
    };
  }

  #discovery(path: string): object {
    const served = [...this.#resources].filter(({ group }) => (group === '') === (path === '/api'));
    return {
      kind: 'APIGroupDiscoveryList',
      items: served.map(({ group, version, kind, plural, namespaced }) => ({
        metadata: { name: group },
        versions: [
          {
            version,
            resources: [
              {
                resource: plural,
                singularResource: kind.toLowerCase(),
                responseKind: { group, version, kind },
                scope: namespaced ? 'Namespaced' : 'Cluster',
                verbs: ['get', 'list', 'watch', 'delete'],
              },
            ],
          },
        ],
      })),
    };
  }
}

/** An object of a resource, with the labels of a deployment if one is named. */
export function anObjectOf(
  resource: Resource,
  name: string,
  fields: { readonly metadata?: object; readonly [field: string]: unknown } = {},
): KubernetesObject {
  const { metadata, ...rest } = fields;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      uid: `${resource.kind}-${name}`.toLowerCase(),
      ...(resource.namespaced ? { namespace: 'default' } : {}),
      ...metadata,
    },
    ...rest,
  };
}

function isSelected({ metadata: { labels = {} } }: KubernetesObject, selector: string): boolean {
  return selector
    .split(',')
    .filter((part) => part !== '')
    .every((part) => {
      const [name = '', value = ''] = part.split('=');
      return labels[name] === value;
    });
}

/** RFC 7396. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as Record<string, unknown> | undefined) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
