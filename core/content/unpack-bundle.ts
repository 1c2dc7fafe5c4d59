import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { ContentMemory } from '../contracts/source.ts';
import { TerminalError } from '../errors.ts';
import { BundleFilesBuilder } from './bundle-files-builder.ts';
import type { ByteStream } from './byte-reader.ts';
import { decompressed } from './decompress.ts';
import { isLfsPointer } from './lfs-pointer.ts';
import { readTar, type TarEntry } from './tar-reader.ts';

export interface UnpackOptions {
  readonly limits: ContentLimits;
  readonly signal: AbortSignal;
  /** Reserves the bytes of the content as they arrive. */
  readonly memory?: ContentMemory | undefined;
}

/**
 * The content of a tar.gz, stored or fetched. Refuses links, devices, paths outside of the bundle,
 * damage and exceeded limits with a TerminalError.
 */
export async function unpackBundle(
  stream: ByteStream,
  options: UnpackOptions,
): Promise<BundleFiles> {
  return await unpackTar(decompressed(stream, { ...options, compression: 'gzip' }), options);
}

/** The content of an uncompressed tar. */
export async function unpackTar(stream: ByteStream, options: UnpackOptions): Promise<BundleFiles> {
  return await readFiles(stream, options, () => undefined);
}

async function readFiles(
  stream: ByteStream,
  options: UnpackOptions,
  check: (entry: TarEntry) => void,
): Promise<BundleFiles> {
  const builder = new BundleFilesBuilder(options.limits);
  await readTar(stream, {
    ...options,
    onEntry: (entry) => {
      check(entry);
      addEntry(builder, entry);
    },
  });
  return builder.build();
}

/** Only of new content: what is stored stays readable. */
function refuseLfsPointer({ path, content }: TarEntry): void {
  if (!isLfsPointer(path, content)) return;
  throw new TerminalError(
    `${JSON.stringify(path.slice(0, 200))} is a pointer of Git LFS, whose file is not fetched: put the file itself into the archive, as \`git lfs pull\` does in a clone`,
  );
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
  /** Start of error messages: about the compression, and about the archive in it. */
  readonly prefixes: { readonly gzip: string; readonly tar: string };
}

/**
 * The content of a user's tar.gz; its errors name the bad layer.
 * @throws TerminalError for bad content; errors of the stream pass through
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
    return await readFiles(unzipped(), options, refuseLfsPointer);
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    const prefix = error === unreadable ? prefixes.gzip : prefixes.tar;
    throw new TerminalError(prefix + error.message, { cause: error });
  }
}
