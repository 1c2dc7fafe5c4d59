import { inflateSync } from 'node:zlib';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** One object of a packfile as it is written there (gitformat-pack). */
export interface PackEntry {
  /** Where it begins. */
  readonly start: number;
  /** Undefined for a delta: it has its base's. */
  readonly type: ObjectType | undefined;
  /** Declared bytes of its data, inflated. */
  readonly size: number;
  /** Of a delta: where its base begins, or the base's id. */
  readonly base: number | string | undefined;
  /** Where its deflated data begins. */
  readonly data: number;
}

const types: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob', 'tag'];
const offsetDelta = 6;
const referenceDelta = 7;
const idLength = 20;

/** @throws Error where there is none. */
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

/** The data of an entry, never more of it than declared, and where the next entry begins. */
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

/** The highest bits first; each further byte adds one, for no distance to be written in two ways. */
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
