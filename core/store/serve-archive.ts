import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler, Response } from 'express';
import { archivePath, bundleNameOf } from './archive-name.ts';
import { sendText } from './text-response.ts';

interface Span {
  readonly start: number;
  /** The last byte, inclusive. */
  readonly end: number;
}

/** GET and HEAD of the archives in a directory, with ranges and conditions (spec 4.2). */
export function serveArchive(directory: string): RequestHandler<{ file: string }> {
  return async (request, response) => {
    const archive = await openArchive(directory, request.params.file);
    if (archive === undefined) return sendText(response, 404, '404 page not found');
    try {
      await respond(archive, request as Request, response);
    } finally {
      await archive.file.close();
    }
  };
}

interface Archive {
  readonly file: FileHandle;
  readonly stat: BigIntStats;
}

/** The open file: what is served stays one archive even when it is replaced meanwhile. */
async function openArchive(directory: string, fileName: string): Promise<Archive | undefined> {
  const name = bundleNameOf(fileName);
  if (name === undefined) return undefined;
  // Never through a symlink, and never waiting for the other end of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(archivePath(directory, name), flags).catch(() => undefined);
  if (file === undefined) return undefined;
  const stat = await file.stat({ bigint: true });
  if (stat.isFile()) return { file, stat };
  await file.close();
  return undefined;
}

async function respond(
  { file, stat }: Archive,
  request: Request,
  response: Response,
): Promise<void> {
  const size = Number(stat.size);
  response.set({
    'Content-Type': 'application/x-compressed-tar',
    'Accept-Ranges': 'bytes',
    'Last-Modified': stat.mtime.toUTCString(),
    // Archives are replaced by new files, never written to: inode, time and size tell them apart.
    ETag: `"${stat.ino.toString(36)}-${stat.mtimeNs.toString(36)}-${stat.size.toString(36)}"`,
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
