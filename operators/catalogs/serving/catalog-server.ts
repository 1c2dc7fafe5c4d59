import type { AddressInfo } from 'node:net';
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
        createSecureServer:
          tls && (async (app) => await createTlsServer(tls, { app, clock, logger, signal })),
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
