import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { TlsOptions } from './config/credentials.ts';

/** Requests of one pool never wait for those of another. */
export interface Connections {
  readonly requests: Dispatcher;
  /** Watches occupy their connection for minutes. */
  readonly watches: Dispatcher;
  /** For the few requests that may not wait: slow webhooks can occupy all of `requests`. */
  readonly reserved: Dispatcher;
}

/** Maximum number of connections of `requests` that creators share. */
export const connectionsOfCreators = 64;
/** With those for core's own requests. */
const maxRequestConnections = connectionsOfCreators + 16;
const maxReservedConnections = 2;

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
    reserved: openPool({ origin, tls, proxyUrl, connections: maxReservedConnections }),
  };
}

/** Closes idle connections now, and busy ones when their request ends. */
export function retireConnections({ requests, watches, reserved }: Connections): void {
  for (const pool of [requests, watches, reserved]) void pool.close();
}

export async function destroyConnections(open: Connections): Promise<void> {
  const pools = [open.requests, open.watches, open.reserved];
  await Promise.all(pools.map(async (pool) => await pool.destroy()));
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
