import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { Header, Pax } from 'tar';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import { TerminalError } from '../errors.ts';
import { BundleFilesBuilder } from './bundle-files-builder.ts';
import type { ByteStream } from './byte-reader.ts';
import { decompressed } from './decompress.ts';
import { readTar, type TarEntry } from './tar-reader.ts';

const blockSize = 512;
const batchSize = 65_536;
/** Equal content makes equal archives. */
const modified = new Date(0);

/** The tar.gz that stores a bundle's content (spec 4.1); equal content gives equal bytes. */
export function packBundle(files: BundleFiles): Readable {
  const gzip = createGzip();
  // Whoever reads the stream receives the error; the callback keeps it from being thrown twice.
  pipeline(Readable.from(batches(tarParts(files))), gzip, () => undefined);
  return gzip;
}

/**
 * The content of a tar.gz, as stored or as fetched. Links, devices and paths that leave the
 * bundle are refused with a TerminalError, like damage and passed limits.
 */
export async function unpackBundle(
  stream: ByteStream,
  options: { readonly limits: ContentLimits; readonly signal: AbortSignal },
): Promise<BundleFiles> {
  return await unpackTar(decompressed(stream, { ...options, compression: 'gzip' }), options);
}

/** The same of an uncompressed tar. */
export async function unpackTar(
  stream: ByteStream,
  options: { readonly limits: ContentLimits; readonly signal: AbortSignal },
): Promise<BundleFiles> {
  const builder = new BundleFilesBuilder(options.limits);
  await readTar(stream, {
    ...options,
    onEntry: (entry) => addEntry(builder, entry),
  });
  return builder.build();
}

function addEntry(builder: BundleFilesBuilder, entry: TarEntry): void {
  switch (entry.type) {
    case 'file':
      return builder.addFile(entry.path, entry.content);
    case 'directory':
      return builder.addDirectory(entry.path);
    case 'symlink':
    case 'hardlink':
    case 'other':
      throw new TerminalError(
        `archive entry ${JSON.stringify(entry.path.slice(0, 200))} is a ${entry.type === 'other' ? 'device or special file' : entry.type}; bundles hold only files and directories`,
      );
  }
}

function* tarParts(files: BundleFiles): Generator<Uint8Array> {
  yield* entryHeader('.', 'Directory', 0);
  // Any fixed order would do in which a directory comes before what is in it.
  for (const path of [...files.directories, ...files.files.keys()].sort()) {
    const content = files.files.get(path);
    if (content === undefined) {
      yield* entryHeader(path, 'Directory', 0);
      continue;
    }
    yield* entryHeader(path, 'File', content.byteLength);
    yield content;
    yield new Uint8Array((blockSize - (content.byteLength % blockSize)) % blockSize);
  }
  yield new Uint8Array(2 * blockSize);
}

function* entryHeader(
  path: string,
  type: 'Directory' | 'File',
  size: number,
): Generator<Uint8Array> {
  const header = new Header({
    path,
    type,
    size,
    mode: type === 'Directory' ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    uname: '',
    gname: '',
    mtime: modified,
    linkpath: '',
  });
  const block = Buffer.alloc(blockSize);
  if (header.encode(block)) yield new Pax({ path }).encode();
  yield block;
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
