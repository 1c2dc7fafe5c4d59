import type { Clock } from '../clock.ts';
import type { KubeConnection } from '../kube/connect.ts';
import type { Metrics } from '../observe/metrics.ts';
import { aborted } from '../runtime/aborted.ts';
import { type BindAddress, parseBindAddress } from '../runtime/bind-address.ts';
import { HealthServer } from '../runtime/health-server.ts';
import type { Runnable } from '../runtime/manager.ts';
import { apiServerAccessReviewer } from '../store/access-review.ts';
import { type ContentServer, startContentServer } from '../store/content-server.ts';
import type { Kinds } from './kinds.ts';
import type { ManagerOptions } from './options.ts';
import type { Uploads } from './uploads.ts';

export function createHealthServer(options: ManagerOptions, kinds: Kinds): Runnable {
  return new HealthServer({
    bindAddress: options.healthProbeBindAddress,
    readyChecks: { caches: () => kinds.checkSynced() },
    logger: options.logger,
  });
}

export interface ContentServerParts {
  readonly kube: KubeConnection;
  readonly metrics: Metrics;
  readonly uploads: Uploads | undefined;
  readonly clock: Clock;
}

/** Serves the stored archives and the metrics, and takes uploads. */
export function createContentServer(
  { content, logger }: ManagerOptions,
  parts: ContentServerParts,
): Runnable {
  const starting = Promise.withResolvers<ContentServer>();
  // Whoever awaits readiness hears of a failure; run() reports it too.
  starting.promise.catch(() => undefined);
  return {
    name: 'content server',
    async ready() {
      await starting.promise;
    },
    async run(signal) {
      starting.resolve(
        startContentServer({
          address: listenAddress(content.bindAddress),
          directory: content.directory,
          ...(content.tls === undefined ? {} : { tls: content.tls }),
          reviewer: apiServerAccessReviewer(parts.kube.client),
          metrics: () => parts.metrics.render(),
          handlers: parts.uploads === undefined ? [] : [parts.uploads.handler],
          clock: parts.clock,
          logger,
        }),
      );
      const server = await starting.promise;
      await aborted(signal);
      await server.close();
    },
  };
}

/** Unlike probes, content cannot be turned off: status.contentURL promises it. */
function listenAddress(text: string): BindAddress {
  const address = parseBindAddress(text);
  if (address === undefined) throw new Error('the content server needs an address to listen on');
  return address;
}
