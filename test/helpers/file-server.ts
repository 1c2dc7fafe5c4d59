import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from '../../deploy/local/cluster/certificates.ts';

export interface FileServerOptions {
  /** Serves HTTPS, if set. */
  readonly tls?: KeyPair;
  /** Requires this user's password, if set. */
  readonly user?: { readonly username: string; readonly password: string };
}

/** A server of files over HTTP, as people publish archives. */
export class FileServer {
  /** By path; a function answers itself. */
  readonly files = new Map<string, Uint8Array | RequestListener>();
  /** Path and credentials of the requests, in order. */
  readonly seen: { readonly path: string; readonly authorization: string | undefined }[] = [];
  readonly #server: Server;
  readonly #options: FileServerOptions;

  private constructor(options: FileServerOptions) {
    this.#options = options;
    const answer: RequestListener = (request, response) => this.#answer(request, response);
    this.#server =
      options.tls === undefined ? createServer(answer) : createTlsServer(options.tls, answer);
  }

  static async start(options: FileServerOptions = {}): Promise<FileServer> {
    const server = new FileServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    const scheme = this.#options.tls === undefined ? 'http' : 'https';
    return `${scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  #answer(...[request, response]: Parameters<RequestListener>): void {
    const path = request.url ?? '';
    const { authorization } = request.headers;
    this.seen.push({ path, authorization });
    const file = this.files.get(path);
    if (!this.#mayRead(authorization)) response.writeHead(401).end();
    else if (file === undefined) response.writeHead(404).end('no such file');
    else if (typeof file === 'function') file(request, response);
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end(file);
  }

  #mayRead(authorization: string | undefined): boolean {
    const { user } = this.#options;
    if (user === undefined) return true;
    const pair = Buffer.from(`${user.username}:${user.password}`).toString('base64');
    return authorization === `Basic ${pair}`;
  }
}
