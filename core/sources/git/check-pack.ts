import { inflateSync } from 'node:zlib';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../../errors.ts';

const headerLength = 12;
const offsetDelta = 6;
const referenceDelta = 7;
const objectIdLength = 20;

/**
 * Refuses a packfile whose objects would unpack beyond the limits, before anything inflates them
 * without a bound: the declared sizes (gitformat-pack) are held to, for deltas their results' too.
 */
export function checkPack(pack: Uint8Array, limits: ContentLimits): void {
  try {
    checkObjects(pack, limits);
  } catch (error) {
    if (error instanceof TerminalError) throw error;
    throw new Error(`the server sent a broken pack: ${errorMessage(error)}`, { cause: error });
  }
}

function checkObjects(pack: Uint8Array, limits: ContentLimits): void {
  const view = Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength);
  if (view.byteLength < headerLength || view.toString('latin1', 0, 4) !== 'PACK') return;
  const allowed = Math.max(limits.maxBytes, view.byteLength * limits.maxCompressionRatio);
  let unpacked = 0;
  let offset = headerLength;
  for (let left = view.readUInt32BE(8); left > 0; left -= 1) {
    const object = readObject(view, offset, limits.maxBytes);
    unpacked += object.size;
    if (unpacked > allowed) throw tooLarge(allowed, '--max-content-compression-ratio');
    offset = object.end;
  }
}

interface PackedObject {
  readonly size: number;
  /** Where the next object begins. */
  readonly end: number;
}

function readObject(pack: Buffer, start: number, maxBytes: number): PackedObject {
  const header = readSize(pack, start);
  if (header.size > maxBytes) throw tooLarge(maxBytes, '--max-content-bytes');
  const data = skipBase(pack, header);
  const inflated = inflateSync(pack.subarray(data), {
    maxOutputLength: Math.max(header.size, 1),
    info: true,
  }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
  const isDelta = header.type === offsetDelta || header.type === referenceDelta;
  const size = isDelta ? deltaResultSize(inflated.buffer) : header.size;
  if (size > maxBytes) throw tooLarge(maxBytes, '--max-content-bytes');
  return { size, end: data + inflated.engine.bytesWritten };
}

interface ObjectHeader {
  readonly type: number;
  readonly size: number;
  readonly end: number;
}

/** Three bits of type, then the size: four bits, and seven more for each following byte. */
function readSize(pack: Buffer, start: number): ObjectHeader {
  let offset = start;
  let byte = pack.readUInt8(offset++);
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let factor = 16; byte & 128; factor *= 128) {
    byte = pack.readUInt8(offset++);
    size += (byte & 127) * factor;
  }
  return { type, size, end: offset };
}

/** A delta names its base between header and data. */
function skipBase(pack: Buffer, { type, end }: ObjectHeader): number {
  if (type === referenceDelta) return end + objectIdLength;
  let offset = end;
  if (type === offsetDelta) while (pack.readUInt8(offset++) & 128);
  return offset;
}

/** A delta begins with the size of its base and the size of its result. */
function deltaResultSize(delta: Buffer): number {
  let offset = 0;
  while (delta.readUInt8(offset++) & 128);
  let size = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = delta.readUInt8(offset++);
    size += (byte & 127) * factor;
    if ((byte & 128) === 0) return size;
  }
}

function tooLarge(limit: number, flag: string): TerminalError {
  return new TerminalError(
    `the repository unpacks to more than the limit of ${limit} bytes (${flag})`,
  );
}
