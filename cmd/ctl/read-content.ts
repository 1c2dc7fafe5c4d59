import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../core/errors.ts';
import { Backoff } from '../../core/platform/clock.ts';
import { type ListedEntry, listArchive } from './archive-listing.ts';
import type { Caller } from './caller.ts';
import type { Cluster } from './cluster.ts';
import { type ContentServer, openContentServer, type ServerPlace } from './content-server.ts';
import { reachableServer } from './reachable-server.ts';
import type { ServerFlags } from './server-flags.ts';
import { asTemporaryReader } from './temporary-reader.ts';

export interface ContentRequest {
  readonly bundle: string;
  readonly server: ServerFlags & { readonly namespace: string };
  readonly signal: AbortSignal;
}

/** How long a binding may take until the API server heeds it; milliseconds. */
const patience = 20_000;

/** Lists what is stored of a Bundle, as its content server has it. */
export async function readContent(
  cluster: Cluster,
  request: ContentRequest,
): Promise<readonly ListedEntry[]> {
  return await withArchive(cluster, request, (archive) => listArchive(archive, request.signal));
}

/** Reads the archive that is stored of a Bundle, as its content server has it. */
export async function withArchive<T>(
  cluster: Cluster,
  { bundle, server: flags, signal }: ContentRequest,
  read: (archive: Readable) => Promise<T>,
): Promise<T> {
  const { status } = await cluster.client.get(bundleResource, { name: bundle }, signal);
  const { contentURL } = (status ?? {}) as { readonly contentURL?: string };
  if (!contentURL) throw new TerminalError('error: url is not available');
  const server = await reachableServer(cluster, flags);
  const place = placeOf(contentURL, server);
  const path = new URL(contentURL).pathname;
  return await asTemporaryReader(cluster, { namespace: server.namespace, signal }, (caller) =>
    readAs(caller, { cluster, place, path, read, signal }),
  );
}

/**
 * Where a contentURL leads. Its host is looked for among the Services of the system alone: whoever
 * may write a Bundle's status must not have a token sent elsewhere.
 */
function placeOf(contentURL: string, server: ContentRequest['server']): ServerPlace {
  const { hostname } = new URL(contentURL);
  const [service = '', namespace, svc] = hostname.split('.');
  if (server.server === undefined && (svc !== 'svc' || namespace !== server.namespace)) {
    throw new TerminalError(
      `${contentURL} is no Service of namespace "${server.namespace}": say with --server where this content server is reached`,
    );
  }
  return { ...server, service };
}

interface Read<T> {
  readonly cluster: Cluster;
  readonly place: ServerPlace;
  readonly path: string;
  readonly read: (archive: Readable) => Promise<T>;
  readonly signal: AbortSignal;
}

async function readAs<T>(
  caller: Caller,
  { cluster, place, path, read, signal }: Read<T>,
): Promise<T> {
  const server = await openContentServer(cluster, place, { caller, signal });
  try {
    return await read(await download(server, path, signal));
  } finally {
    await server.close();
  }
}

/** Refusals are asked about again for a while: the role was bound only just now. */
async function download(
  server: ContentServer,
  path: string,
  signal: AbortSignal,
): Promise<Readable> {
  const deadline = Date.now() + patience;
  const backoff = new Backoff({ initial: 100, max: 2_000 });
  for (;;) {
    const { statusCode, body } = await server.request({ method: 'GET', path, signal });
    if (statusCode === 200) return body;
    const text = (await body.text()).trim().slice(0, 1000);
    const isRefused = statusCode === 401 || statusCode === 403;
    if (!isRefused || Date.now() >= deadline) {
      throw new TerminalError(
        `the content server answered with HTTP status ${statusCode}: ${text}`,
      );
    }
    await delay(backoff.next(), undefined, { signal });
  }
}
