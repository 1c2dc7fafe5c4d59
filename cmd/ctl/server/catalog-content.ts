import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { ReadContent } from '../../../operators/client/index.ts';
import type { Cluster } from '../cluster.ts';
import { defaultCaSecret } from '../flags.ts';
import { forwarded, publishedAuthority, readAuthority } from './content-server.ts';

interface CatalogContentFlags {
  /** PEM file with the CA of the servers of catalogs. */
  readonly caFile?: string;
}

/** Reads what catalogs serve. */
export interface CatalogContent {
  readonly read: ReadContent;
  close(): Promise<void>;
}

/** Milliseconds. */
const connectTimeout = 10_000;
const answerTimeout = 30_000;
/** Connections to each server. */
const connections = 4;

/**
 * Connects to the servers that statuses of catalogs name: to a Service of the cluster through the
 * API server, to any other one directly. They get no credentials. Certificates are verified: of a
 * Service by the CA in its Secret, of others by the system's CAs, or by `caFile`.
 */
export function openCatalogContent(
  cluster: Connection,
  flags: CatalogContentFlags,
): CatalogContent {
  const pools = new Map<string, Promise<Pool>>();
  const poolOf = (url: URL): Promise<Pool> => {
    const known = pools.get(url.origin) ?? openPool(cluster, url, flags);
    pools.set(url.origin, known);
    return known;
  };
  return {
    async *read(url, signal) {
      const pool = await poolOf(url);
      const response = await answerOf(pool, url, signal);
      const isGzip = response.headers['content-encoding'] === 'gzip';
      // Its error is also that of the iteration.
      yield* isGzip ? pipeline(response.body, createGunzip(), () => undefined) : response.body;
    },
    async close() {
      const opened = await Promise.allSettled(pools.values());
      for (const pool of opened) if (pool.status === 'fulfilled') await pool.value.destroy();
    },
  };
}

async function answerOf(
  pool: Pool,
  url: URL,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let response: Dispatcher.ResponseData;
  try {
    response = await pool.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { 'accept-encoding': 'gzip', 'user-agent': 'rukpakctl' },
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new TerminalError(`${url.origin}: ${errorMessage(error)}`, { cause: error });
  }
  if (response.statusCode === 200) return response;
  await response.body.dump();
  throw new TerminalError(`GET ${url.href}: HTTP status ${response.statusCode}`);
}

/** The Service of a host such as `rukpak-catalogs.rukpak-system.svc`. */
const serviceHost = /^([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.[a-z0-9.-]+)?$/;

type Connection = Pick<Cluster, 'client' | 'config' | 'signal'>;

async function openPool(
  cluster: Connection,
  url: URL,
  { caFile }: CatalogContentFlags,
): Promise<Pool> {
  const [, service, namespace] = serviceHost.exec(url.hostname) ?? [];
  const place =
    service === undefined || namespace === undefined ? undefined : { service, namespace };
  const isForwarded = place !== undefined && url.protocol === 'https:';
  const known = caFile === undefined ? undefined : await readAuthority(caFile);
  const ca = known ?? (isForwarded ? await authorityOf(cluster, place) : undefined);
  const connector = buildConnector({
    timeout: connectTimeout,
    ...(ca === undefined ? {} : { ca }),
  });
  const port = portOf(url);
  return new Pool(url.origin, {
    connect: place === undefined ? connector : forwarded(cluster, { ...place, port }, connector),
    connections,
    headersTimeout: answerTimeout,
    bodyTimeout: answerTimeout,
  });
}

async function authorityOf(
  cluster: Connection,
  place: { readonly service: string; readonly namespace: string },
): Promise<string> {
  const secrets = { ...place, caSecretName: defaultCaSecret, cure: 'pass --ca-file' };
  return await publishedAuthority(cluster, secrets, cluster.signal);
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'https:' ? 443 : 80;
}
