import { inflateSync } from 'node:zlib';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** One object of a packfile as it is stored (gitformat-pack). */
export interface PackEntry {
  /** Position of its header. */
  readonly start: number;
  /** Undefined for a delta, which has its base's type. */
  readonly type: ObjectType | undefined;
  /** Declared bytes of its inflated data. */
  readonly size: number;
  /** For a delta: the position or id of its base. */
  readonly base: number | string | undefined;
  /** Position of its deflated data. */
  readonly data: number;
}

const types: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag'];
const offsetDelta = 6;
const referenceDelta = 7;
const idLength = 20;

/** @throws Error when there is no valid entry. */
export function readEntry(pack: Buffer, start: number): PackEntry {
  const { type, size, end } = readHeader(pack, start);
  switch (type) {
    case offsetDelta: {
      const { value, end: data } = readDistance(pack, end);
      return { start, type: undefined, size, base: start - value, data };
    }
    case referenceDelta: {
      const data = end + idLength;
      return { start, type: undefined, size, base: pack.toString('hex', end, data), data };
    }
    default:
      if (types[type] === undefined) throw new Error(`an object has the type ${type}`);
      return { start, type: types[type], size, base: undefined, data: end };
  }
}

/** The data of an entry, at most as long as declared, and the position of the next entry. */
export function inflateEntry(
  pack: Buffer,
  { data, size }: PackEntry,
): { readonly content: Buffer; readonly end: number } {
  const { buffer, engine } = inflateSync(pack.subarray(data), {
    maxOutputLength: Math.max(size, 1),
    info: true,
  }) as unknown as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
  if (buffer.byteLength !== size) {
    throw new Error(`an object has ${buffer.byteLength} bytes instead of ${size}`);
  }
  return { content: buffer, end: data + engine.bytesWritten };
}

/** Three bits of type, then the size: four bits, and seven more for each following byte. */
function readHeader(pack: Buffer, start: number): { type: number; size: number; end: number } {
  let end = start;
  let byte = pack.readUInt8(end++);
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let factor = 16; byte & 128; factor *= 128) {
    byte = pack.readUInt8(end++);
    size += (byte & 127) * factor;
  }
  return { type, size, end };
}

/**
 * The highest bits first; each further byte adds one, so that each distance has only one encoding.
 */
function readDistance(pack: Buffer, start: number): { value: number; end: number } {
  let end = start;
  let byte = pack.readUInt8(end++);
  let value = byte & 127;
  while (byte & 128) {
    byte = pack.readUInt8(end++);
    value = (value + 1) * 128 + (byte & 127);
  }
  return { value, end };
}

const mostCopied = 0x10000;

/** The declared size of a delta's result. */
export function deltaResultSize(delta: Buffer): number {
  return readSize(delta, readSize(delta, 0).end).value;
}

/**
 * Applies a delta to its base (gitformat-pack, deltified representation).
 * @throws Error when it belongs to another base, or its result has another size than declared
 */
export function applyDelta(delta: Buffer, base: Buffer): Buffer {
  const baseSize = readSize(delta, 0);
  if (baseSize.value !== base.byteLength) {
    throw new Error(
      `a delta is for a base of ${baseSize.value} bytes, which has ${base.byteLength}`,
    );
  }
  const resultSize = readSize(delta, baseSize.end);
  const result = Buffer.alloc(resultSize.value);
  let written = 0;
  for (let at = resultSize.end; at < delta.byteLength; ) {
    const { part, end } = readInstruction(delta, at, base);
    if (written + part.byteLength > result.byteLength) throw wrongSize(resultSize.value);
    result.set(part, written);
    written += part.byteLength;
    at = end;
  }
  if (written !== result.byteLength) throw wrongSize(resultSize.value);
  return result;
}

/** The next bytes of the result: from the base, or from the delta itself. */
function readInstruction(
  delta: Buffer,
  start: number,
  base: Buffer,
): { readonly part: Buffer; readonly end: number } {
  const code = delta.readUInt8(start);
  let end = start + 1;
  if (code === 0) throw new Error('a delta has an instruction that is reserved');
  if ((code & 128) === 0) {
    const part = delta.subarray(end, end + code);
    if (part.byteLength < code) throw new Error('a delta is cut off');
    return { part, end: end + code };
  }
  // Bits 0 to 3 tell which bytes of the offset follow, bits 4 to 6 which of the size; others are 0.
  const given = (bits: readonly number[]): number => {
    let value = 0;
    for (const [byte, bit] of bits.entries()) {
      if ((code & bit) !== 0) value += delta.readUInt8(end++) * 256 ** byte;
    }
    return value;
  };
  const offset = given([1, 2, 4, 8]);
  const size = given([16, 32, 64]);
  const copied = size === 0 ? mostCopied : size;
  if (offset + copied > base.byteLength)
    throw new Error('a delta copies bytes that its base does not have');
  return { part: base.subarray(offset, offset + copied), end };
}

/** Seven bits per byte, the lowest first. */
function readSize(delta: Buffer, start: number): { value: number; end: number } {
  let end = start;
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = delta.readUInt8(end++);
    value += (byte & 127) * factor;
    if ((byte & 128) === 0) return { value, end };
  }
}

function wrongSize(declared: number): Error {
  return new Error(`a delta does not make the ${declared} bytes that it declares`);
}

/**
 * Contents by their position, the most recently used ones: always the newest, and others while
 * there is room.
 */
export class ContentCache {
  readonly #maxBytes: number;
  readonly #contents = new Map<number, Buffer>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(start: number): Buffer | undefined {
    const content = this.#contents.get(start);
    if (content === undefined) return undefined;
    this.#contents.delete(start);
    this.#contents.set(start, content);
    return content;
  }

  set(start: number, content: Buffer): void {
    this.#contents.set(start, content);
    this.#bytes += content.byteLength;
    for (const [oldest, old] of this.#contents) {
      if (this.#bytes <= this.#maxBytes || oldest === start) return;
      this.#contents.delete(oldest);
      this.#bytes -= old.byteLength;
    }
  }
}
