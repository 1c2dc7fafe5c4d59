import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { BlobQuery, ByteRange, StoredCatalog } from '../../index/index.ts';
import {
  acceptsGzip,
  conditionalStatus,
  entityTag,
  namesGzip,
  type RequestedRange,
  requestedRange,
  type Validators,
} from './conditions.ts';

/** Minimum bytes of a compressed answer, as in catalogd. */
const leastGzip = 1400;
/**
 * Maximum bytes of an answer that is read at once, into a reused buffer: a new one costs more than
 * reading.
 */
const mostAtOnce = 128 * 1024;
const mostKept = 16;
const buffers: Buffer[] = [];

interface Answered {
  readonly content: StoredCatalog;
  readonly query: BlobQuery;
  readonly type: 'application/json' | 'application/jsonl';
}

/** Answers with the matching blobs as JSON lines. Rejects if the client disconnects. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { content, query, type }: Answered,
): Promise<void> {
  const validators = { tag: content.digest.slice(0, 32), modified: content.modified };
  response.setHeader('Last-Modified', content.modified.toUTCString());
  response.setHeader('ETag', entityTag(validators, false));
  response.setHeader('Vary', 'Accept-Encoding');
  const status = conditionalStatus(request.headers, validators);
  if (status !== undefined) {
    // A cache finds its answer by the ETag: that of the other encoding would be another one.
    if (namesGzip(request.headers, validators)) {
      response.setHeader('ETag', entityTag(validators, true));
    }
    response.writeHead(status).end();
    return;
  }
  const plan = planOf(request, validators, content.index.ranges(query));
  if (plan.status !== 416) response.setHeader('Content-Type', type);
  response.writeHead(plan.status, plan.headers);
  if (request.method === 'HEAD' || plan.size === 0) response.end();
  else await send(response, content, plan);
}

interface Plan {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly ranges: readonly ByteRange[];
  readonly size: number;
  readonly isGzip: boolean;
}

function planOf(request: IncomingMessage, validators: Validators, all: readonly ByteRange[]): Plan {
  const size = sizeOf(all);
  const part = requestedRange(request.headers, validators, size);
  if (part === 'unsatisfiable') {
    const headers = { 'Content-Range': `bytes */${size}` };
    return { status: 416, headers, ranges: [], size: 0, isGzip: false };
  }
  if (part !== undefined) {
    const range = `bytes ${part.start}-${part.end - 1}/${size}`;
    const length = part.end - part.start;
    const headers = { 'Content-Range': range, 'Content-Length': length };
    return { status: 206, headers, ranges: cut(all, part), size: length, isGzip: false };
  }
  if (size >= leastGzip && acceptsGzip(request.headers['accept-encoding'])) {
    const headers = { 'Content-Encoding': 'gzip', ETag: entityTag(validators, true) };
    return { status: 200, headers, ranges: all, size, isGzip: true };
  }
  const headers = { 'Content-Length': size, 'Accept-Ranges': 'bytes' };
  return { status: 200, headers, ranges: all, size, isGzip: false };
}

function sizeOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The ranges of one part, whose positions count the bytes of all ranges together. */
function cut(ranges: readonly ByteRange[], part: RequestedRange): readonly ByteRange[] {
  let before = 0;
  return ranges.flatMap(({ start, end }) => {
    const from = Math.max(start, start + part.start - before);
    const to = Math.min(end, start + part.end - before);
    before += end - start;
    return from < to ? [{ start: from, end: to }] : [];
  });
}

async function send(response: ServerResponse, content: StoredCatalog, plan: Plan): Promise<void> {
  const { ranges, size, isGzip } = plan;
  if (!isGzip && size <= mostAtOnce) {
    const buffer = buffers.pop() ?? Buffer.allocUnsafe(mostAtOnce);
    const bytes = buffer.subarray(0, size);
    await content.readInto(bytes, ranges);
    // If a client never reads its answer, the garbage collector frees the buffer.
    response.end(bytes, () => void (buffers.length < mostKept && buffers.push(buffer)));
    return;
  }
  const bytes = Readable.from(content.read(ranges), { highWaterMark: 1 });
  await (isGzip ? pipeline(bytes, createGzip(), response) : pipeline(bytes, response));
}
