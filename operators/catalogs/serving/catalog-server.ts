import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type CatalogHandlerOptions, CatalogHttpServer } from '../../../catalog/serve/index.ts';
import {
  aborted,
  type CatalogServerMetrics,
  type Clock,
  createTlsServer,
  errorMessage,
  type Logger,
  type Runnable,
  type TlsFiles,
} from '../../../core/controller.ts';

interface CatalogServerOptions {
  readonly find: CatalogHandlerOptions['find'];
  readonly address: { readonly host?: string; readonly port: number };
  readonly tls?: TlsFiles | undefined;
  readonly metrics?: CatalogServerMetrics | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The content server as a part of the process, and its address once it listens. */
export function catalogServer({
  find,
  address,
  tls,
  metrics,
  clock,
  logger,
}: CatalogServerOptions): {
  readonly runnable: Runnable;
  readonly listening: Promise<AddressInfo>;
} {
  const listening = Promise.withResolvers<AddressInfo>();
  // run() reports a failure too.
  listening.promise.catch(() => undefined);
  const runnable: Runnable = {
    name: 'catalog content server',
    async ready() {
      await listening.promise;
    },
    async run(signal) {
      const server = new CatalogHttpServer({
        catalogs: find,
        address,
        createSecureServer: async (app) => {
          const own = { app, clock, logger, signal };
          const server = tls === undefined ? createServer(app) : await createTlsServer(tls, own);
          shareConnections(server);
          return server;
        },
        onAnswered: (status, seconds) => metrics?.answered(status, seconds),
        onError: (error) => logger.error({ error: errorMessage(error) }, 'request failed'),
      });
      try {
        listening.resolve(await server.listen());
      } catch (error) {
        listening.reject(error);
        throw error;
      }
      await aborted(signal);
      await server.close();
    },
  };
  return { runnable, listening: listening.promise };
}

/** Half of what the content server has. A proxy in front of many clients is one address. */
const maxOfAddress = 256;

/** Closes further connections of an address that has its share: the others are for other clients. */
function shareConnections(server: Server): void {
  const connections = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const count = connections.get(remoteAddress) ?? 0;
    if (count >= maxOfAddress) {
      socket.destroy();
      return;
    }
    connections.set(remoteAddress, count + 1);
    socket.once('close', () => {
      const left = (connections.get(remoteAddress) ?? 0) - 1;
      if (left > 0) connections.set(remoteAddress, left);
      else connections.delete(remoteAddress);
    });
  });
}
