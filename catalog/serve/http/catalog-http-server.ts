import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { ServedCatalog } from '../served-catalog.ts';
import { answer } from './answer.ts';
import { type Refusal, requestTarget } from './request-target.ts';

export interface HttpServerOptions {
  readonly catalogs: readonly ServedCatalog[];
  /** Without a host, all addresses. */
  readonly address: { readonly host?: string; readonly port: number };
  /** Called for unexpected errors of the server. */
  readonly onError: (error: unknown) => void;
}

/**
 * Maximum number of connections, each of which may hold a piece of a catalog while its client
 * reads.
 */
const maxConnections = 512;
/** Maximum milliseconds for a client to send a request, and without any byte read or written. */
const requestTimeout = 15_000;
const idleTimeout = 60_000;

/** Serves catalogs over HTTP, with the paths and answers of OLM's catalogd. */
export class CatalogHttpServer {
  readonly #catalogs: ReadonlyMap<string, ServedCatalog>;
  readonly #options: HttpServerOptions;
  readonly #server: Server;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#catalogs = new Map(options.catalogs.map((catalog) => [catalog.name, catalog]));
    this.#server = createServer((request, response) => void this.#handle(request, response));
    this.#server.maxConnections = maxConnections;
    this.#server.requestTimeout = requestTimeout;
    this.#server.headersTimeout = requestTimeout;
    this.#server.timeout = idleTimeout;
  }

  /**
   * Resolves with the address once the server listens.
   * @throws TerminalError if the address is not available
   */
  async listen(): Promise<AddressInfo> {
    const { host, port } = this.#options.address;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => {
        const where = `${host ?? ''}:${port}`;
        const message = `cannot listen on ${where}: ${errorMessage(error)}`;
        reject(new TerminalError(message, { cause: error }));
      });
      this.#server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
    });
    return this.#server.address() as AddressInfo;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response);
    } catch (error) {
      // A client that disconnects is not an error of the server.
      if (!response.destroyed) this.#options.onError(error);
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 500, text: '500 Internal Server Error' });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = requestTarget(request.method ?? '', request.url ?? '');
    if ('status' in target) {
      refuse(response, target);
      return;
    }
    const catalog = this.#catalogs.get(target.catalog);
    if (catalog === undefined) {
      refuse(response, { status: 404, text: '404 Not Found' });
      return;
    }
    await using borrowed = catalog.borrow();
    await answer(request, response, { content: borrowed.content.blobs, query: target.query });
  }
}

function refuse(response: ServerResponse, { status, text }: Refusal): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
  });
  response.end(`${text}\n`);
}
