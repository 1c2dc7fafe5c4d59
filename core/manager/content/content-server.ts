import { readFile } from 'node:fs/promises';
import type { RequestHandler } from 'express';
import { type ContentRestorer, storedContentKey } from '../../bundle/index.ts';
import { StoredPlans } from '../../bundle-deployment/index.ts';
import { WaitingError } from '../../errors.ts';
import { ClientAuthorities } from '../../platform/certificates/index.ts';
import { aborted, type Clock } from '../../platform/clock.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import type { Metrics } from '../../platform/observe/index.ts';
import { type BindAddress, parseBindAddress, type Runnable } from '../../platform/runtime/index.ts';
import {
  apiServerAccessReviewer,
  type ContentServer,
  createPlanHandler,
  type ServedBundles,
  startContentServer,
} from '../../store/index.ts';
import { type FollowOptions, followCluster, followFile } from '../client-authorities.ts';
import type { Kinds } from '../kinds/kinds.ts';
import type { ContentOptions } from '../options.ts';
import type { ManagerSettings } from '../settings.ts';
import type { UnpackingZone } from './unpacking-zone.ts';

interface ContentServerParts {
  readonly client: KubeClient;
  /** Serves stored archives and uploads; undefined when this process does not unpack. */
  readonly unpacking: UnpackingZone | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** The Bundles of a process that does not unpack. */
const noBundles: ServedBundles = { keyOf: () => undefined, restore: async () => false };

/** Serves the metrics, and depending on the zone stored archives with uploads, and plans. */
export function createContentServer(
  settings: ManagerSettings,
  parts: ContentServerParts,
): Runnable {
  const { content, logger } = settings;
  const starting = Promise.withResolvers<ContentServer>();
  // ready() reports a failure to its caller; run() reports it too.
  starting.promise.catch(() => undefined);
  const { client, unpacking, metrics, clock } = parts;
  const clientAuthorities = new ClientAuthorities();
  const { tls } = content;
  if (tls !== undefined) {
    metrics.certificates.watch('content-server', () => readFile(tls.certFile, 'utf8'));
  }
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
          bundles: unpacking?.bundles ?? noBundles,
          ...(tls === undefined ? {} : { tls: { ...tls, clientAuthorities } }),
          reviewer: apiServerAccessReviewer(client, content.tokenAudiences),
          metrics: metrics.content,
          renderMetrics: () => metrics.render(),
          handlers: [
            planHandler(settings, client),
            ...(unpacking?.uploads === undefined ? [] : [unpacking.uploads.handler]),
          ],
          clock,
          logger,
        }),
      );
      const following = follow(clientAuthorities, content, { client, clock, logger, signal });
      await Promise.all([serveUntil(signal, starting.promise), following]);
    },
  };
}

/** Only a process that applies may read plans. */
function planHandler(
  { zone, systemNamespace }: ManagerSettings,
  client: KubeClient,
): RequestHandler {
  if (zone === 'unpacking') return createPlanHandler(undefined);
  return createPlanHandler(new StoredPlans({ client, systemNamespace }));
}

async function serveUntil(signal: AbortSignal, starting: Promise<ContentServer>): Promise<void> {
  const server = await starting;
  await aborted(signal);
  await server.close();
}

/** Client certificates require TLS. */
async function follow(
  authorities: ClientAuthorities,
  { tls, clientCaFile }: ContentOptions,
  options: FollowOptions,
): Promise<void> {
  if (tls === undefined) return;
  if (clientCaFile === undefined) await followCluster(authorities, options);
  else await followFile(authorities, clientCaFile, options);
}

/** Unlike probes, the content server cannot be disabled, because status.contentURL names it. */
function listenAddress(text: string): BindAddress {
  const address = parseBindAddress(text);
  if (address === undefined) throw new Error('the content server needs an address to listen on');
  return address;
}

/**
 * The Bundles in the watch cache: every replica serves all of them, whichever process unpacked
 * them.
 */
export function createServedBundles(
  kinds: Pick<Kinds, 'bundles' | 'checkSynced'>,
  restorer: Pick<ContentRestorer, 'canRestore' | 'restore'>,
): ServedBundles {
  return {
    keyOf(name) {
      checkSynced(kinds);
      const bundle = kinds.bundles.get({ name });
      return bundle && storedContentKey(bundle);
    },
    async restore(name, signal) {
      const bundle = kinds.bundles.get({ name });
      if (bundle === undefined || !restorer.canRestore(bundle)) return false;
      await restorer.restore(bundle, signal);
      return true;
    },
  };
}

function checkSynced(kinds: Pick<Kinds, 'checkSynced'>): void {
  try {
    kinds.checkSynced();
  } catch (error) {
    throw new WaitingError('this process has not read the Bundles yet', {
      cause: error,
    });
  }
}
