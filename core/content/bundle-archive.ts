import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { Header, Pax } from 'tar';
import type { BundleFiles } from '../contracts/bundle-files.ts';

const batchSize = 65_536;

/** The tar.gz that stores a bundle's content; equal content gives equal bytes. */
export function packBundle(files: BundleFiles): Readable {
  const gzip = createGzip();
  // The reader of the stream receives the error; the callback only prevents a second throw.
  pipeline(Readable.from(batches(tarParts(entriesOf(files)))), gzip, () => undefined);
  return gzip;
}

function* entriesOf(files: BundleFiles): Generator<WrittenEntry> {
  yield { path: '.' };
  // Any fixed order works in which a directory comes before its content.
  for (const path of [...files.directories, ...files.files.keys()].sort()) {
    yield { path, content: files.files.get(path) };
  }
}

/**
 * Joins small parts, because a write to the compressor costs more than a copy; large ones stay
 * separate.
 */
function* batches(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
  let batch: Uint8Array[] = [];
  let size = 0;
  for (const part of parts) {
    if (size + part.byteLength > batchSize && size > 0) {
      yield Buffer.concat(batch);
      batch = [];
      size = 0;
    }
    if (part.byteLength > batchSize) {
      yield part;
      continue;
    }
    batch.push(part);
    size += part.byteLength;
  }
  if (size > 0) yield Buffer.concat(batch);
}

export interface WrittenEntry {
  readonly path: string;
  /** Default: a directory. */
  readonly content?: Uint8Array | undefined;
}

const blockSize = 512;
/** A fixed time, so that equal content makes equal archives. */
const modified = new Date(0);

/** An uncompressed tar of files and directories in the given order. */
export function* tarParts(entries: Iterable<WrittenEntry>): Generator<Uint8Array> {
  for (const { path, content } of entries) {
    yield* tarHeader({ path, size: content?.byteLength });
    if (content === undefined) continue;
    yield content;
    yield tarPadding(content.byteLength);
  }
  yield tarEnd;
}

/** The end blocks of an archive. */
export const tarEnd: Uint8Array = new Uint8Array(2 * blockSize);

/** The padding after content of so many bytes. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((blockSize - (size % blockSize)) % blockSize);
}

interface WrittenHeader {
  readonly path: string;
  /** Bytes of a file (default: a directory). */
  readonly size?: number | undefined;
}

/** The header of an entry: owned by root, without a time, readable for all. */
export function* tarHeader({ path, size }: WrittenHeader): Generator<Uint8Array> {
  const isDirectory = size === undefined;
  const header = new Header({
    path,
    type: isDirectory ? 'Directory' : 'File',
    size: size ?? 0,
    mode: isDirectory ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    uname: '',
    gname: '',
    mtime: modified,
    linkpath: '',
  });
  const block = Buffer.alloc(blockSize);
  if (header.encode(block))
    yield new Pax({ path, ...(size === undefined ? {} : { size }) }).encode();
  yield block;
}
