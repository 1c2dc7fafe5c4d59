import type { Logger } from '../../contracts/logger.ts';
import { type Clock, systemClock } from '../clock.ts';
import { CredentialSource } from './config/credentials.ts';
import { clusterText, type KubeconfigOptions, loadKubeconfig } from './config/kubeconfig.ts';
import {
  type Discovery,
  DiscoveryClient,
  type NamespacedKinds,
  type ServedApis,
} from './discovery/discovery.ts';
import { HttpKubeClient } from './http-kube-client.ts';
import type { KubeClient } from './kube-client.ts';
import { type HttpTransport, Transport } from './transport.ts';

interface ConnectOptions extends KubeconfigOptions {
  /** The part before the slash is the field manager of writes that name none. */
  readonly userAgent: string;
  /** Logs kinds that the API server served before and leaves out now. */
  readonly logger?: Logger;
  /** Receives the warnings of the API server and of webhooks. */
  readonly onWarning?: (warning: string) => void;
}

export interface KubeConnection {
  readonly client: KubeClient;
  readonly discovery: Discovery & ServedApis & NamespacedKinds;
  /** URL of the API server. */
  readonly server: string;
  /** For messages: the cluster, and the context that names it. */
  readonly cluster: string;
  readonly clockOffset: (signal: AbortSignal) => Promise<ClockOffset>;
  /** Aborts every running request and watch. */
  readonly close: () => Promise<void>;
}

/**
 * Connects with one identity to one API server. Sends nothing before the first call.
 * @throws Error that names the kubeconfig file, when none is usable.
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
    cluster: clusterText(config),
    clockOffset: async (signal) => await measureClockOffset(transport, systemClock, signal),
    close: async () => await transport.close(),
  };
}

/**
 * Reports warnings of the API server and of admission webhooks in its answers (RFC 7234, code 299).
 */
function telling(transport: HttpTransport, tell: (warning: string) => void): HttpTransport {
  return {
    send: async (request, timeout) => {
      const response = await transport.send(request, timeout);
      for (const warning of warningsIn(response.headers['warning'])) tell(warning);
      return response;
    },
    stream: async (request, timeout) => await transport.stream(request, timeout),
  };
}

/**
 * Texts of the headers, each `299 - "text"`; one header may contain several, separated by commas.
 */
function warningsIn(headers: string | readonly string[] = []): readonly string[] {
  return [headers]
    .flat()
    .flatMap((header) => [...header.matchAll(/299 [^\s"]+ "((?:[^"\\]|\\.)*)"/g)])
    .map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}

/**
 * How far this computer's clock is ahead of the API server's, in milliseconds; negative when it is
 * behind. The true value lies between the two, because the server reports whole seconds and answers
 * take time.
 */
export interface ClockOffset {
  readonly least: number;
  readonly most: number;
}

const timeout = 10_000;

/**
 * Compares the clocks with one small request.
 * @throws Error when the API server is unreachable, or does not report its time.
 */
export async function measureClockOffset(
  transport: Pick<HttpTransport, 'send'>,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<ClockOffset> {
  const sent = clock.now();
  const { headers } = await transport.send({ method: 'GET', path: '/version', signal }, timeout);
  const came = clock.now();
  const told = Date.parse(headers['date']?.toString() ?? '');
  if (Number.isNaN(told)) throw new Error('the API server does not say what time it is');
  return { least: sent - (told + 1_000), most: came - told };
}

/** Milliseconds: a larger offset is worth a warning. */
const tolerated = 10_000;

/** The certain offset, such as `12 s ahead of`; undefined when there may be none. */
export function clockProblem({ least, most }: ClockOffset): string | undefined {
  if (least > tolerated) return `${seconds(least)} s ahead of`;
  return most < -tolerated ? `${seconds(-most)} s behind` : undefined;
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
