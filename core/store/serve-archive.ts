import type { BigIntStats, ReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler, Response } from 'express';
import type { PinnedKey } from '../contracts/store.ts';
import { WaitingError } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { ContentMetrics } from '../platform/observe/index.ts';
import { bundleNameOf, isIntact, type OpenArchive, openArchive } from './archive.ts';
import { sendText } from './text-response.ts';

/** The Bundles with served content. */
export interface ServedBundles {
  /**
   * The content of the Bundle that has this name now; undefined when there is none.
   * @throws WaitingError while it is unknown.
   */
  keyOf(name: string): PinnedKey | undefined;
  /**
   * Stores content that is missing here. True when it is stored, false when there is none.
   * @throws WaitingError in one sentence when the content is not available now; the signal's
   * reason.
   */
  restore(name: string, signal: AbortSignal): Promise<boolean>;
}

interface Span {
  readonly start: number;
  /** The last byte, inclusive. */
  readonly end: number;
}

export interface ServeArchiveOptions {
  /** The directory of a DiskStore. */
  readonly directory: string;
  readonly bundles: ServedBundles;
  readonly metrics: ContentMetrics;
  readonly clock: Clock;
}

/**
 * Minimum bytes that a reader must take per period (milliseconds); a slower one is cut off, to free
 * its place.
 */
const leastTaken = 64 * 1024;
const stallTime = 30_000;

/** Seconds until a retry is useful. */
const retryAfter = '10';

/** GET and HEAD of Bundles' archives, with ranges and conditions. */
export function serveArchive(options: ServeArchiveOptions): RequestHandler<{ file: string }> {
  const { clock } = options;
  return async (request, response) => {
    let archive: OpenArchive | undefined;
    try {
      archive = await currentArchive(request, options, response);
    } catch (error) {
      if (!(error instanceof WaitingError)) throw error;
      response.set('Retry-After', retryAfter);
      return sendText(response, 503, error.message);
    }
    if (archive === undefined) return sendText(response, 404, '404 page not found');
    try {
      options.metrics.sent(await respond(archive, request as Request, { response, clock }));
    } finally {
      await archive.file.close();
    }
  };
}

/** Sends the answer; returns the number of the archive's bytes that were sent. */
async function respond(
  { file, stat, stamp }: OpenArchive,
  request: Request,
  { response, clock }: { readonly response: Response; readonly clock: Clock },
): Promise<number> {
  const size = Number(stat.size);
  response.set({
    'Content-Type': 'application/x-compressed-tar',
    'Accept-Ranges': 'bytes',
    'Last-Modified': stat.mtime.toUTCString(),
    ETag: `"${stamp?.digest ?? identityOf(stat)}"`,
  });
  if (request.fresh) {
    response.removeHeader('Content-Type');
    response.status(304).end();
    return 0;
  }
  const span = requestedSpan(request, response, size);
  if (span === 'unsatisfiable') {
    response.set('Content-Range', `bytes */${size}`);
    sendText(response, 416, 'invalid range: failed to overlap');
    return 0;
  }
  const { start, end } = span ?? { start: 0, end: size - 1 };
  if (span !== undefined) {
    response.status(206).set('Content-Range', `bytes ${start}-${end}/${size}`);
  }
  response.set('Content-Length', String(end - start + 1));
  if (request.method === 'HEAD' || end < start) {
    response.end();
    return 0;
  }
  const content = file.createReadStream({ start, end, autoClose: false });
  const ended = new AbortController();
  void cutStalled(content, clock, ended.signal);
  // A client that disconnects early is not an error; the log has the request in any case.
  await pipeline(content, response).catch(() => response.destroy());
  ended.abort();
  return content.bytesRead;
}

/** The stream reads only as fast as the client takes the bytes. */
async function cutStalled(content: ReadStream, clock: Clock, ended: AbortSignal): Promise<void> {
  for (let taken = 0; ; taken = content.bytesRead) {
    await clock.sleep(stallTime, ended).catch(() => undefined);
    if (ended.aborted) return;
    if (content.bytesRead < taken + leastTaken) {
      content.destroy(new Error('the client does not take what it is sent'));
      return;
    }
  }
}

/** Archives are replaced by new files and never written to: inode, time and size identify them. */
function identityOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino.toString(36)}-${mtimeNs.toString(36)}-${size.toString(36)}`;
}

/** The single requested range; several are answered with the whole archive, as RFC 9110 allows. */
function requestedSpan(
  request: Request,
  response: Response,
  size: number,
): Span | 'unsatisfiable' | undefined {
  if (!rangeStillMeant(request, response)) return undefined;
  const ranges = request.range(size, { combine: true });
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === undefined || ranges === -2 || ranges.type !== 'bytes') return undefined;
  return ranges.length === 1 ? ranges[0] : undefined;
}

function rangeStillMeant(request: Request, response: Response): boolean {
  const condition = request.get('If-Range');
  if (condition === undefined) return true;
  return condition === response.get('ETag') || condition === response.get('Last-Modified');
}

/** Milliseconds; shorter than the idle timeout of a connection. */
const patience = 45_000;

/**
 * The content of the Bundle that has the file's name now, never that of an earlier Bundle of the
 * name. Restores missing and damaged content while the client waits.
 * @throws WaitingError when it is not available now.
 */
async function currentArchive(
  request: Request<{ file: string }>,
  { directory, bundles }: { readonly directory: string; readonly bundles: ServedBundles },
  response: Response,
): Promise<OpenArchive | undefined> {
  const name = bundleNameOf(request.params.file);
  const key = name === undefined ? undefined : bundles.keyOf(name);
  if (name === undefined || key === undefined) return undefined;
  const stored = await openArchive(directory, key);
  if (stored !== undefined && !(await isDamaged(stored, request))) return stored;
  const restored = await whileAwaited(response, (signal) => bundles.restore(name, signal));
  return restored ? await openArchive(directory, key) : undefined;
}

/**
 * Whether a client that asks for all of the archive would get other bytes than core wrote, and closes
 * it then: in a process that only unpacks nobody else reads it. Without a digest, of an earlier version,
 * that is unknown.
 */
async function isDamaged(
  archive: OpenArchive,
  { method, headers }: Pick<Request, 'method' | 'headers'>,
): Promise<boolean> {
  const isWhole = method === 'GET' && headers.range === undefined;
  if (!isWhole || archive.stamp?.digest === undefined) return false;
  try {
    if (await isIntact(archive)) return false;
  } catch {
    // The disk does not give the bytes back.
  }
  await archive.file.close();
  return true;
}

async function whileAwaited<T>(
  response: Response,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const giveUp = (): void =>
    ended.abort(new WaitingError('the content is not stored here and still being fetched'));
  const timer = setTimeout(giveUp, patience);
  response.once('close', giveUp);
  try {
    return await work(ended.signal);
  } finally {
    clearTimeout(timer);
    response.off('close', giveUp);
  }
}
