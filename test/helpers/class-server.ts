import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { parseJson } from '../../api/json.ts';
import { defaultLimits, unpackTar } from '../../core/content/index.ts';

/** A request to the server of a class. */
export interface ReceivedCall {
  /** Such as `POST /v1/bundle`. */
  readonly call: string;
  readonly headers: IncomingHttpHeaders;
  /** The tar that it was sent: texts by path. */
  readonly files: Readonly<Record<string, string>>;
}

export type AnswerCall = (response: ServerResponse, received: ReceivedCall) => void | Promise<void>;

export interface ClassServerOptions {
  readonly className?: string;
  /** Other than the usual. */
  readonly description?: object;
  readonly tls?: ServerOptions;
}

/** A server of one class, as the contract has them; what it answers to POSTs is a test's to say. */
export class FakeClassServer {
  /** The requests, in order. */
  readonly received: ReceivedCall[] = [];
  /** By path; 404 for others. */
  readonly answers = new Map<string, AnswerCall>();
  description: object;
  /** How many there have been. */
  connections = 0;
  readonly #server: Server;
  readonly #isTls: boolean;

  private constructor({ className = 'acme', description, tls }: ClassServerOptions) {
    this.description = {
      contractVersion: 1,
      className,
      handlers: ['bundle', 'deployment'],
      ...description,
    };
    this.#isTls = tls !== undefined;
    const answer: RequestListener = (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    };
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
    this.#server.on('connection', () => (this.connections += 1));
  }

  static async start(options: ClassServerOptions = {}, port = 0): Promise<FakeClassServer> {
    const server = new FakeClassServer(options);
    server.#server.listen(port, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#isTls ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '', headers } = request;
    const files = method === 'POST' ? await textsIn(request) : {};
    const received = { call: `${method} ${url}`, headers, files };
    this.received.push(received);
    const answer = this.answers.get(url);
    if (answer !== undefined) await answer(response, received);
    else if (url === '/v1/class') answerJson(response, this.description);
    else response.writeHead(404).end();
  }
}

export function answerJson(response: ServerResponse, body: unknown, status = 200): void {
  answerWith(response, { type: 'application/json', body: JSON.stringify(body) }, status);
}

export function answerWith(
  response: ServerResponse,
  { type, body }: { readonly type: string; readonly body: string | Uint8Array },
  status = 200,
): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': type, 'content-length': length }).end(body);
}

async function textsIn(request: IncomingMessage): Promise<Readonly<Record<string, string>>> {
  const { signal } = new AbortController();
  const { files } = await unpackTar(Readable.from(request), { limits: defaultLimits, signal });
  return Object.fromEntries(
    [...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]),
  );
}

/** The JSON in one of the files of a call. */
export function jsonIn({ files }: ReceivedCall, path: string): unknown {
  return parseJson(files[path] ?? 'null');
}
