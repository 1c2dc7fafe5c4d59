import type { Logger } from '../../contracts/logger.ts';
import { systemClock } from '../clock.ts';
import { telling } from './api-warnings.ts';
import { type ClockOffset, measureClockOffset } from './clock-offset.ts';
import { CredentialSource } from './credentials.ts';
import type { Discovery, NamespacedKinds, ServedApis } from './discovery.ts';
import { DiscoveryClient } from './discovery-client.ts';
import { HttpKubeClient } from './http-kube-client.ts';
import type { KubeClient } from './kube-client.ts';
import { type KubeconfigOptions, loadKubeconfig } from './kubeconfig.ts';
import { Transport } from './transport.ts';

export interface ConnectOptions extends KubeconfigOptions {
  /** Its part before the slash names the field manager of writes that give none. */
  readonly userAgent: string;
  /** Is told where the API server leaves out what it served. */
  readonly logger?: Logger;
  /** Is told what the API server and webhooks warn of. */
  readonly onWarning?: (warning: string) => void;
}

export interface KubeConnection {
  readonly client: KubeClient;
  readonly discovery: Discovery & ServedApis & NamespacedKinds;
  /** URL of the API server. */
  readonly server: string;
  readonly clockOffset: (signal: AbortSignal) => Promise<ClockOffset>;
  /** Ends every request and watch under way. */
  readonly close: () => Promise<void>;
}

/**
 * One identity at one API server. Nothing is sent before the first call.
 * @throws Error that names the kubeconfig file where none can be used.
 */
export function connect({
  userAgent,
  logger,
  onWarning,
  ...options
}: ConnectOptions): KubeConnection {
  const config = loadKubeconfig(options);
  const { server, proxyUrl } = config.cluster;
  const credentials = new CredentialSource(config);
  const transport = new Transport({ server, proxyUrl, userAgent, credentials, clock: systemClock });
  const client = new HttpKubeClient(
    onWarning === undefined ? transport : telling(transport, onWarning),
  );
  return {
    client,
    discovery: new DiscoveryClient(client, { logger }),
    server,
    clockOffset: async (signal) => await measureClockOffset(transport, systemClock, signal),
    close: async () => await transport.close(),
  };
}
