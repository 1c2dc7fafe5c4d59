import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { BlobQuery, ByteRange, StoredCatalog } from '../../index/index.ts';
import {
  acceptsGzip,
  conditionalStatus,
  entityTag,
  type RequestedRange,
  requestedRange,
  type Validators,
} from './conditions.ts';

/** Smaller answers are not worth compressing, as for catalogd. */
const leastGzip = 1400;
/** Answers up to here are read as one, into buffers that are used again: new ones cost more than reading. */
const mostAtOnce = 128 * 1024;
const mostKept = 16;
const buffers: Buffer[] = [];

/** Answers with the blobs that match, as JSON lines. Rejects where the client breaks off. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { content, query }: { readonly content: StoredCatalog; readonly query: BlobQuery },
): Promise<void> {
  const validators = { tag: content.digest.slice(0, 32), modified: content.modified };
  response.setHeader('Last-Modified', content.modified.toUTCString());
  response.setHeader('ETag', entityTag(validators, false));
  response.setHeader('Vary', 'Accept-Encoding');
  const status = conditionalStatus(request.headers, validators);
  if (status !== undefined) {
    response.writeHead(status).end();
    return;
  }
  const plan = planOf(request, validators, content.index.ranges(query));
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
  const type = { 'Content-Type': 'application/jsonl' };
  const part = requestedRange(request.headers, validators, size);
  if (part === 'unsatisfiable') {
    const headers = { 'Content-Range': `bytes */${size}` };
    return { status: 416, headers, ranges: [], size: 0, isGzip: false };
  }
  if (part !== undefined) {
    const range = `bytes ${part.start}-${part.end - 1}/${size}`;
    const length = part.end - part.start;
    const headers = { ...type, 'Content-Range': range, 'Content-Length': length };
    return { status: 206, headers, ranges: cut(all, part), size: length, isGzip: false };
  }
  if (size >= leastGzip && acceptsGzip(request.headers['accept-encoding'])) {
    const headers = { ...type, 'Content-Encoding': 'gzip', ETag: entityTag(validators, true) };
    return { status: 200, headers, ranges: all, size, isGzip: true };
  }
  const headers = { ...type, 'Content-Length': size, 'Accept-Ranges': 'bytes' };
  return { status: 200, headers, ranges: all, size, isGzip: false };
}

function sizeOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** The bytes of the ranges, counted as if they were one, from the part's first to its last. */
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
    // One that a client never takes is left to the garbage collector.
    response.end(bytes, () => void (buffers.length < mostKept && buffers.push(buffer)));
    return;
  }
  const bytes = Readable.from(content.read(ranges), { highWaterMark: 1 });
  await (isGzip ? pipeline(bytes, createGzip(), response) : pipeline(bytes, response));
}
