import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { Header, Pax } from 'tar';
import type { BundleFiles } from '../contracts/bundle-files.ts';

const batchSize = 65_536;

/** The tar.gz that stores a bundle's content; equal content gives equal bytes. */
export function packBundle(files: BundleFiles): Readable {
  const gzip = createGzip();
  // Whoever reads the stream receives the error; the callback keeps it from being thrown twice.
  pipeline(Readable.from(batches(tarParts(entriesOf(files)))), gzip, () => undefined);
  return gzip;
}

function* entriesOf(files: BundleFiles): Generator<WrittenEntry> {
  yield { path: '.' };
  // Any fixed order would do in which a directory comes before what is in it.
  for (const path of [...files.directories, ...files.files.keys()].sort()) {
    yield { path, content: files.files.get(path) };
  }
}

/** Joins small parts, as a write to the compressor costs more than a copy; large ones go alone. */
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
/** Equal content makes equal archives. */
const modified = new Date(0);

/** An uncompressed tar of files and directories in the order in which they are given. */
export function* tarParts(entries: Iterable<WrittenEntry>): Generator<Uint8Array> {
  for (const { path, content } of entries) {
    yield* tarHeader({ path, size: content?.byteLength });
    if (content === undefined) continue;
    yield content;
    yield tarPadding(content.byteLength);
  }
  yield tarEnd;
}

/** The blocks that end an archive. */
export const tarEnd: Uint8Array = new Uint8Array(2 * blockSize);

/** Zeros after content of so many bytes. */
export function tarPadding(size: number): Uint8Array {
  return new Uint8Array((blockSize - (size % blockSize)) % blockSize);
}

interface WrittenHeader {
  readonly path: string;
  /** Bytes of a file (default: a directory). */
  readonly size?: number | undefined;
}

/** What stands before an entry's content: of root, without a time, readable for all. */
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
