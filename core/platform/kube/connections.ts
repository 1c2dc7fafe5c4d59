import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { TlsOptions } from './config/credentials.ts';

/**
 * Watches occupy their connection for minutes, so they have a separate pool and never block other
 * requests.
 */
export interface Connections {
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

const maxRequestConnections = 64;

const options = {
  // kube-apiserver closes idle connections after 90 s; core closes them earlier.
  keepAliveTimeout: 30_000,
  keepAliveMaxTimeout: 60_000,
  connectTimeout: 10_000,
  headersTimeout: 0,
  bodyTimeout: 0,
} as const;

export function openConnections(
  origin: string,
  tls: TlsOptions,
  proxyUrl: string | undefined,
): Connections {
  return {
    requests: openPool({ origin, tls, proxyUrl, connections: maxRequestConnections }),
    watches: openPool({ origin, tls, proxyUrl, connections: null }),
  };
}

/** Closes idle connections now, and busy ones when their request ends. */
export function retireConnections(connections: Connections): void {
  void connections.requests.close();
  void connections.watches.close();
}

export async function destroyConnections(connections: Connections): Promise<void> {
  await Promise.all([connections.requests.destroy(), connections.watches.destroy()]);
}

interface PoolOptions {
  readonly origin: string;
  readonly tls: TlsOptions;
  readonly proxyUrl: string | undefined;
  readonly connections: number | null;
}

function openPool({ origin, tls, proxyUrl, connections }: PoolOptions): Dispatcher {
  const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (proxyUrl === undefined) {
    return new Pool(origin, { ...options, connections, connect, allowH2: false });
  }
  return new ProxyAgent({
    ...options,
    uri: proxyUrl,
    connections,
    requestTls: connect,
    allowH2: false,
  });
}
