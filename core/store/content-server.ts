import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../platform/clock.ts';
import { cachedAccessReviewer } from './access-cache.ts';
import { type ContentAppOptions, createContentApp } from './content-app.ts';
import { createTlsServer, type TlsFiles } from './tls-server.ts';

export interface ContentServerOptions extends ContentAppOptions {
  /** All interfaces without a host; port 0 for any free one. */
  readonly address: { readonly host?: string; readonly port: number };
  /** Serves HTTPS; plain HTTP without. */
  readonly tls?: TlsFiles;
  readonly clock: Clock;
}

export interface ContentServer {
  /** Where it listens, for callers that asked for any free port. */
  readonly port: number;
  /** Takes no more requests, and returns when the running ones are done or five seconds passed. */
  close(): Promise<void>;
}

/** A client that neither sends nor takes a byte for so long is given up. */
const idleTimeout = 60_000;
/** From the first byte of a request to the last of its body: large uploads over slow lines. */
const requestTimeout = 30 * 60_000;
const closeTimeout = 5_000;

/** Listens and serves; throws where the address or the certificate cannot be used. */
export async function startContentServer(options: ContentServerOptions): Promise<ContentServer> {
  const logger = options.logger.child({ logger: 'http' });
  const reviewer = cachedAccessReviewer(options.reviewer, options.clock);
  const app = createContentApp({ ...options, logger, reviewer });
  const stopped = new AbortController();
  const server =
    options.tls === undefined
      ? createHttpServer(app)
      : await createTlsServer(options.tls, {
          app,
          logger,
          clock: options.clock,
          signal: stopped.signal,
        });
  server.setTimeout(idleTimeout);
  server.requestTimeout = requestTimeout;
  // Handlers say when a body is wanted; Node would ask for it before the request is authorized.
  server.on('checkContinue', app);
  try {
    await listen(server, options.address);
  } catch (error) {
    stopped.abort();
    throw error;
  }
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    close: async () => {
      stopped.abort();
      await close(server);
    },
  };
}

async function listen(server: Server, address: ContentServerOptions['address']): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function close(server: Server): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), closeTimeout);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearTimeout(deadline);
}
