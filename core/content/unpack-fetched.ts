import type { BundleFiles } from '../contracts/bundle-files.ts';
import { TerminalError } from '../errors.ts';
import type { ByteStream } from './byte-reader.ts';
import { decompressed } from './decompress.ts';
import { type UnpackOptions, unpackTar } from './unpack-bundle.ts';

export interface UnpackFetchedOptions extends UnpackOptions {
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
