import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import { type Kubeconfig, loadKubeconfig } from '../../../../core/platform/kube/index.ts';

interface OpenWatch {
  readonly answer: IncomingMessage;
  readonly response: ServerResponse;
}

const expired = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version',
  reason: 'Expired',
  code: 410,
};

/** Proxy of an API server, with the kubeconfig's identity: it can expire and stall watches. */
export class ApiProxy implements AsyncDisposable {
  readonly certificate: string;
  /** Whether every watch receives 410 Gone. */
  forgets = false;
  readonly #server: Server;
  readonly #origin: URL;
  readonly #agent: Agent;
  readonly #watches = new Set<OpenWatch>();

  private constructor(server: Server, certificate: string, kubeconfig: Kubeconfig) {
    this.#server = server;
    this.certificate = certificate;
    this.#origin = new URL(kubeconfig.cluster.server);
    this.#agent = new Agent({ keepAlive: true, ...credentialsOf(kubeconfig) });
  }

  static async start(path: string): Promise<ApiProxy> {
    const altNames = [{ type: 7, ip: '127.0.0.1' }] as const;
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'chaos' }], {
      keySize: 2048,
      extensions: [{ name: 'subjectAltName', altNames: [...altNames] }],
    });
    const server = createServer({ cert, key });
    const proxy = new ApiProxy(server, cert, loadKubeconfig({ kubeconfig: path }));
    server.on('request', (request, response) => proxy.#serve(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends all watches with 410 Gone. */
  forget(): void {
    const event = `${JSON.stringify({ type: 'ERROR', object: expired })}\n`;
    for (const { answer, response } of this.#take()) {
      answer.unpipe(response);
      response.end(event);
      answer.destroy();
    }
  }

  /** Stops all events of the open watches. Returns a function that closes these watches. */
  stall(): () => void {
    const stalled = this.#take();
    for (const { answer, response } of stalled) answer.unpipe(response);
    return () => {
      for (const { answer, response } of stalled) {
        answer.destroy();
        response.destroy();
      }
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    this.#agent.destroy();
    await once(this.#server, 'close');
  }

  #take(): readonly OpenWatch[] {
    const watches = [...this.#watches];
    this.#watches.clear();
    return watches;
  }

  #serve(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url: path = '', headers } = incoming;
    const isWatch = /[?&]watch=(?:true|1)(?:&|$)/.test(path);
    if (isWatch && this.forgets) {
      response.writeHead(410, { 'content-type': 'application/json' }).end(JSON.stringify(expired));
      return;
    }
    const { hostname, port } = this.#origin;
    const outgoing = request({ hostname, port, agent: this.#agent, method, path, headers });
    outgoing.on('response', (answer) => this.#answer({ answer, response }, isWatch));
    // The client sees a broken connection, as without a proxy.
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.on('error', () => outgoing.destroy()).pipe(outgoing);
  }

  #answer(watch: OpenWatch, isWatch: boolean): void {
    const { answer, response } = watch;
    if (isWatch) this.#watches.add(watch);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.on('error', () => response.destroy()).on('close', () => this.#watches.delete(watch));
    answer.pipe(response);
  }
}

function credentialsOf({ cluster, user }: Kubeconfig): object {
  return {
    ca: pem(cluster.caData, cluster.caFile),
    cert: pem(user.certData, user.certFile),
    key: pem(user.keyData, user.keyFile),
  };
}

function pem(data: string | undefined, file: string | undefined): Buffer | undefined {
  if (data !== undefined) return Buffer.from(data, 'base64');
  return file === undefined ? undefined : readFileSync(file);
}
