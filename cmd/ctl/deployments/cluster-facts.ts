import { ClusterFactsReader } from '../../../core/bundle-deployment/index.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import type { ClusterFacts } from '../../../core/sdk.ts';
import type { Cluster } from '../cluster.ts';
import { silentLogger } from '../output/loggers.ts';

interface FactsRequest {
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

/** The facts about the cluster that core gives to classes. */
export async function readClusterFacts(
  { client, discovery }: Pick<Cluster, 'client' | 'discovery'>,
  { systemNamespace, signal }: FactsRequest,
): Promise<ClusterFacts> {
  // Ends the watch on proxies, which a cluster may have.
  const watch = new AbortController();
  try {
    const { facts } = await new ClusterFactsReader({
      client,
      discovery,
      systemNamespace,
      clock: systemClock,
      logger: silentLogger,
      signal: AbortSignal.any([signal, watch.signal]),
    }).read(signal);
    return facts;
  } finally {
    watch.abort();
  }
}
