import type { BigIntStats } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler, Response } from 'express';
import { archivePath, bundleNameOf } from './archive-name.ts';
import { type OpenArchive, openArchive } from './open-archive.ts';
import { sendText } from './text-response.ts';

interface Span {
  readonly start: number;
  /** The last byte, inclusive. */
  readonly end: number;
}

/** GET and HEAD of the archives in a directory, with ranges and conditions (spec 4.2). */
export function serveArchive(directory: string): RequestHandler<{ file: string }> {
  return async (request, response) => {
    const name = bundleNameOf(request.params.file);
    const archive = name && (await openArchive(archivePath(directory, name)));
    if (!archive) return sendText(response, 404, '404 page not found');
    try {
      await respond(archive, request as Request, response);
    } finally {
      await archive.file.close();
    }
  };
}

async function respond(
  { file, stat, stamp }: OpenArchive,
  request: Request,
  response: Response,
): Promise<void> {
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
    return;
  }
  const span = requestedSpan(request, response, size);
  if (span === 'unsatisfiable') {
    response.set('Content-Range', `bytes */${size}`);
    return sendText(response, 416, 'invalid range: failed to overlap');
  }
  const { start, end } = span ?? { start: 0, end: size - 1 };
  if (span !== undefined) {
    response.status(206).set('Content-Range', `bytes ${start}-${end}/${size}`);
  }
  response.set('Content-Length', String(end - start + 1));
  if (request.method === 'HEAD' || end < start) {
    response.end();
    return;
  }
  // A client that leaves early is its own business; the log shows the request either way.
  await pipeline(file.createReadStream({ start, end, autoClose: false }), response).catch(() =>
    response.destroy(),
  );
}

/** Archives are replaced by new files, never written to: inode, time and size tell them apart. */
function identityOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino.toString(36)}-${mtimeNs.toString(36)}-${size.toString(36)}`;
}

/** The one range asked for; several at once are answered whole, as RFC 9110 allows. */
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
