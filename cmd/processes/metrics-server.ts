import { createServer } from 'node:http';
import type { Logger } from '../../core/contracts/logger.ts';
import { aborted } from '../../core/platform/clock.ts';
import { guardConnections } from '../../core/platform/connection-guard.ts';
import type { Exposition } from '../../core/platform/observe/index.ts';
import { parseBindAddress, type Runnable } from '../../core/platform/runtime/index.ts';

interface MetricsServerOptions {
  /** In the format of parseBindAddress. */
  readonly bindAddress: string;
  readonly metrics: Exposition;
  readonly logger: Logger;
}

/** Serves /metrics over HTTP, as the processes of RukPak and OLM do; `0` disables it. */
export function metricsServer({ bindAddress, ...options }: MetricsServerOptions): Runnable {
  return {
    name: 'metrics server',
    async run(signal) {
      const address = parseBindAddress(bindAddress);
      if (address !== undefined) await serveMetrics(address, options, signal);
      else await aborted(signal);
    },
  };
}

async function serveMetrics(
  address: { readonly host?: string; readonly port: number },
  { metrics, logger }: Omit<MetricsServerOptions, 'bindAddress'>,
  signal: AbortSignal,
): Promise<void> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end('404 page not found\n');
      return;
    }
    void metrics.render().then(({ contentType, body }) => {
      response.writeHead(200, { 'content-type': contentType }).end(body);
    });
  });
  guardConnections(server, (crowd) => {
    const message = 'too many connections to the metrics server: the least useful ones are closed';
    logger.warn(crowd, message);
  });
  const failed = Promise.withResolvers<never>();
  server.on('error', failed.reject);
  server.listen(address);
  await Promise.race([aborted(signal), failed.promise]);
  server.closeAllConnections();
  server.close();
}
