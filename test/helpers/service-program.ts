import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../api/json.ts';
import { type KubeClient, type Resource, secretResource } from '../../core/platform/kube/index.ts';
import { eventually } from './eventually.ts';

const serviceResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};

export interface ServiceProgramOptions {
  readonly client: Pick<KubeClient, 'get'>;
  readonly namespace: string;
  readonly service: string;
  /** The Secret that its pods mount; of the same namespace. */
  readonly secret: string;
  /** Answers what the API server posts to a path: both are JSON. */
  readonly answer: (path: string, body: JsonObject) => object;
}

/** Milliseconds between two looks at the Secret; the kubelet is slower. */
const pollInterval = 500;

/**
 * The program behind a Service, as a pod would run it: it listens on the Service's clusterIP, a
 * loopback address of the local control plane, serves what the Secret holds, and follows it. Each
 * request has a connection, and so a handshake, of its own.
 */
export class ServiceProgram {
  readonly #options: ServiceProgramOptions;
  readonly #server: Server;
  readonly #stop = new AbortController();
  #following: Promise<void> = Promise.resolve();
  /** Digests of the certificates served so far, the current one last. */
  readonly served: string[] = [];
  /** Requests answered so far. */
  answered = 0;

  private constructor(options: ServiceProgramOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
        const answer = JSON.stringify(options.answer(request.url ?? '', body as JsonObject));
        response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
        response.end(answer);
        this.answered += 1;
      });
    });
  }

  /** Waits for Service and Secret, and listens on the Service's first port. */
  static async start(options: ServiceProgramOptions): Promise<ServiceProgram> {
    const program = new ServiceProgram(options);
    const { host, port } = await eventually(() => program.#address());
    await eventually(() => program.#reload());
    program.#server.listen(port, host);
    await once(program.#server, 'listening');
    program.#following = program.#follow();
    return program;
  }

  /** Where it listens; in the cluster it is known by the name of its Service. */
  get address(): AddressInfo {
    return this.#server.address() as AddressInfo;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #address(): Promise<{ readonly host: string; readonly port: number }> {
    const { client, namespace, service: name } = this.#options;
    const { spec } = (await client.get(serviceResource, { namespace, name })) as unknown as {
      readonly spec: { readonly clusterIP: string; readonly ports: readonly { port: number }[] };
    };
    return { host: spec.clusterIP, port: spec.ports[0]?.port ?? 443 };
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await delay(pollInterval, undefined, { signal }).catch(() => undefined);
      // A Secret that is gone stays mounted in a pod.
      await this.#reload().catch(() => undefined);
    }
  }

  async #reload(): Promise<void> {
    const { client, namespace, secret: name } = this.#options;
    const { data } = (await client.get(secretResource, { namespace, name })) as unknown as {
      readonly data: Readonly<Record<string, string>>;
    };
    const cert = Buffer.from(data['tls.crt'] ?? '', 'base64');
    const key = Buffer.from(data['tls.key'] ?? '', 'base64');
    const digest = createHash('sha256').update(cert).digest('hex');
    if (this.served.at(-1) === digest) return;
    this.#server.setSecureContext({ cert, key });
    this.served.push(digest);
  }
}
