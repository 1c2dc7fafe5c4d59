import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Parser, type ReadEntry } from 'tar';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import { Backoff } from '../../../core/platform/clock.ts';
import type { Cluster } from '../cluster.ts';
import type { ServerFlags } from '../flags.ts';
import { visibleLine } from '../terminal/text.ts';
import {
  type Caller,
  type ContentServer,
  openContentServer,
  reachableServer,
  type ServerPlace,
} from './content-server.ts';
import { asTemporaryReader } from './temporary-reader.ts';

interface ContentRequest {
  readonly bundle: string;
  readonly server: ServerFlags & { readonly namespace: string };
  readonly signal: AbortSignal;
}

/** Milliseconds until the API server respects a new binding. */
const patience = 20_000;

/** Lists the stored content of a Bundle from its content server. */
export async function readContent(
  cluster: Cluster,
  request: ContentRequest,
): Promise<readonly ListedEntry[]> {
  return await withArchive(cluster, request, (archive) => listArchive(archive, request.signal));
}

/** Reads the stored archive of a Bundle from its content server. */
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
 * The place of a contentURL. Its host must be a Service of the system: otherwise somebody who may
 * write a Bundle's status could send a token elsewhere.
 */
function placeOf(contentURL: string, server: ContentRequest['server']): ServerPlace {
  const { hostname } = new URL(contentURL);
  const [service = '', namespace, svc] = hostname.split('.');
  if (server.server === undefined && (svc !== 'svc' || namespace !== server.namespace)) {
    throw new TerminalError(
      `${contentURL} is not a Service of namespace "${server.namespace}": pass the URL of this content server with --server`,
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

/** Repeats refused requests for a while, because the role was bound only just now. */
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

/** One entry of an archive. */
interface ListedEntry {
  readonly path: string;
  /** In the format of `ls`: `drwxr-xr-x`. */
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  /** Bytes. */
  readonly size: number;
  /** RFC 3339. */
  readonly modified: string;
}

/** The entries of a tar.gz in their order, without their content. */
export async function listArchive(
  archive: Readable,
  signal: AbortSignal,
): Promise<readonly ListedEntry[]> {
  const entries: ListedEntry[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      entries.push(listed(entry));
      entry.resume();
    },
  });
  await pipeline(archive, parser as unknown as NodeJS.WritableStream, { signal });
  return entries;
}

/** A line in the format of `tar ztv`, which RukPak ran. */
export function listingLine({ path, mode, uid, gid, size, modified }: ListedEntry): string {
  const time = modified.slice(0, 19).replace('T', ' ');
  return `${mode} ${uid}/${gid} ${String(size).padStart(9)} ${time} ${visibleLine(path)}`;
}

function listed({ path, type, mode = 0, uid = 0, gid = 0, size, mtime }: ReadEntry): ListedEntry {
  const letter = type === 'Directory' ? 'd' : '-';
  return {
    path: path.replace(/(?<=.)\/+$/, ''),
    mode: letter + permissions(mode),
    uid,
    gid,
    size,
    modified: (mtime ?? new Date(0)).toISOString(),
  };
}

function permissions(mode: number): string {
  return [6, 3, 0]
    .map((shift) => {
      const bits = mode >> shift;
      return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${bits & 1 ? 'x' : '-'}`;
    })
    .join('');
}
