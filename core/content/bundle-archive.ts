import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import { tarParts, type WrittenEntry } from './tar-parts.ts';

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
