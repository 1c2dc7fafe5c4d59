import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { ContentMemory } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';
import { BundleFilesBuilder } from './bundle-files-builder.ts';
import type { ByteStream } from './byte-reader.ts';
import { decompressed } from './decompress.ts';
import { readTar, type TarEntry } from './tar-reader.ts';

export interface UnpackOptions {
  readonly limits: ContentLimits;
  readonly signal: AbortSignal;
  /** Asked for the bytes of the content as they come. */
  readonly memory?: ContentMemory | undefined;
}

/**
 * The content of a tar.gz, as stored or as fetched. Links, devices and paths that leave the
 * bundle are refused with a TerminalError, like damage and passed limits.
 */
export async function unpackBundle(
  stream: ByteStream,
  options: UnpackOptions,
): Promise<BundleFiles> {
  return await unpackTar(decompressed(stream, { ...options, compression: 'gzip' }), options);
}

/** The same of an uncompressed tar. */
export async function unpackTar(stream: ByteStream, options: UnpackOptions): Promise<BundleFiles> {
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

interface UnpackFetchedOptions extends UnpackOptions {
  /** What errors begin with: those of the compression, and those of the archive in it. */
  readonly prefixes: { readonly gzip: string; readonly tar: string };
}

/**
 * The content of a tar.gz that a user made, saying which of its layers is bad.
 * @throws TerminalError where the content is at fault; errors of the stream pass through
 */
export async function unpackFetched(
  stream: ByteStream,
  { prefixes, ...options }: UnpackFetchedOptions,
): Promise<BundleFiles> {
  let unreadable: unknown;
  async function* unzipped(): AsyncGenerator<Uint8Array> {
    try {
      yield* decompressed(stream, { ...options, compression: 'gzip' });
    } catch (error) {
      unreadable = error;
      throw error;
    }
  }
  try {
    return await unpackTar(unzipped(), options);
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    const prefix = error === unreadable ? prefixes.gzip : prefixes.tar;
    throw new TerminalError(prefix + error.message, { cause: error });
  }
}
