import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { guardConnections } from '../../../core/platform/connection-guard.ts';
import type { ServedCatalog } from '../served-catalog.ts';
import { type CatalogHandlerOptions, catalogHandler } from './catalog-handler.ts';

export interface HttpServerOptions {
  /** Either all catalogs, or how to find one. */
  readonly catalogs: readonly ServedCatalog[] | CatalogHandlerOptions['find'];
  /** Without a host, all addresses. */
  readonly address: { readonly host?: string; readonly port: number };
  /** Makes a server for TLS. Defaults to plain HTTP. */
  readonly createSecureServer?: ((listener: RequestListener) => Promise<Server>) | undefined;
  /** Called for unexpected errors of the server. */
  readonly onError: (error: unknown) => void;
  /** Called at the end of each answer. */
  readonly onAnswered?: CatalogHandlerOptions['onAnswered'];
}

/** Maximum milliseconds for a client to send a request, and without any byte read or written. */
const requestTimeout = 15_000;
const idleTimeout = 60_000;

/** Serves catalogs over HTTP. */
export class CatalogHttpServer {
  readonly #options: HttpServerOptions;
  #server: Server | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the address once the server listens.
   * @throws TerminalError if the address is not available
   */
  async listen(): Promise<AddressInfo> {
    const { address, catalogs, createSecureServer, onError, onAnswered } = this.#options;
    const find = typeof catalogs === 'function' ? catalogs : byName(catalogs);
    const listener = catalogHandler({ find, onError, onAnswered });
    const server = (await createSecureServer?.(listener)) ?? createServer(listener);
    this.#server = server;
    // Each may hold a piece of a catalog while its client reads.
    guardConnections(server, ({ address: from, connections }) => {
      const crowd = `${connections} connections are open, and one more came from ${from}`;
      onError(new Error(`${crowd}: the least useful ones are closed`));
    });
    server.requestTimeout = requestTimeout;
    server.headersTimeout = requestTimeout;
    server.timeout = idleTimeout;
    const { host, port } = address;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const where = `${host ?? ''}:${port}`;
        const message = `cannot listen on ${where}: ${errorMessage(error)}`;
        reject(new TerminalError(message, { cause: error }));
      });
      server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
    });
    return server.address() as AddressInfo;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
}

function byName(catalogs: readonly ServedCatalog[]): CatalogHandlerOptions['find'] {
  const known = new Map(catalogs.map((catalog) => [catalog.name, catalog]));
  return ({ catalog }) => known.get(catalog);
}
