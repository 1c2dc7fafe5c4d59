import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** In front of a registry that speaks plain HTTP. */
export class RegistryProxy implements AsyncDisposable {
  /** Whether it answers every request with 429. */
  refuses = false;
  /** The proxy awaits it once, before it serves the next blob. */
  beforeBlob: (() => Promise<void>) | undefined;
  readonly #server: Server;
  readonly #registry: string;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(server: Server, registry: string) {
    this.#server = server;
    this.#registry = registry;
  }

  /** `registry` is `host:port`. */
  static async start(registry: string): Promise<RegistryProxy> {
    const server = createServer();
    const proxy = new RegistryProxy(server, registry);
    server.on('request', (request, response) => void proxy.#serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** `host:port`. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    this.#agent.destroy();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.refuses) {
      response.writeHead(429, { 'retry-after': '1' }).end();
      return;
    }
    const { method, url: path = '', headers } = incoming;
    if (path.includes('/blobs/')) {
      const { beforeBlob } = this;
      this.beforeBlob = undefined;
      await beforeBlob?.();
    }
    const [hostname = '', port = ''] = this.#registry.split(':');
    const outgoing = request({ hostname, port, agent: this.#agent, method, path, headers });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.on('error', () => outgoing.destroy()).pipe(outgoing);
  }
}
