import { type FileHandle, open } from 'node:fs/promises';
import { indexTar, type TarPlace } from '../../content/index.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import type { LayoutFiles } from './layout-files.ts';

/** Enough for the blobs of a mirror of whole catalogs, and as many directories. */
const maxEntries = 2_000_000;
const chunkSize = 256 * 1024;
const compressed: readonly (readonly [magic: readonly number[], tool: string])[] = [
  [[0x1f, 0x8b], 'gunzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'unzstd'],
];

/** A layout in a tar, read in place: only the tar's headers are in memory. */
export class ArchiveFiles implements LayoutFiles {
  readonly name: string;
  readonly #file: FileHandle;
  readonly #places: ReadonlyMap<string, TarPlace>;

  constructor(path: string, file: FileHandle, places: ReadonlyMap<string, TarPlace>) {
    this.name = `oci-archive:${path}`;
    this.#file = file;
    this.#places = places;
  }

  /** @throws TerminalError for a file that is not a tar */
  static async open(path: string): Promise<ArchiveFiles> {
    const file = await openFile(path);
    try {
      await checkUncompressed(file);
      return new ArchiveFiles(path, file, await indexTar(file, { maxEntries }));
    } catch (error) {
      await file.close();
      if (!(error instanceof TerminalError)) throw error;
      throw new TerminalError(`oci-archive:${path}: ${error.message}`, { cause: error });
    }
  }

  async size(path: string): Promise<number | undefined> {
    return this.#places.get(path)?.size;
  }

  async *stream(path: string): AsyncGenerator<Uint8Array> {
    const place = this.#places.get(path);
    if (place === undefined) return;
    const end = place.start + place.size;
    for (let position = place.start; position < end; ) {
      const length = Math.min(chunkSize, end - position);
      const { bytesRead, buffer } = await this.#file.read(
        Buffer.allocUnsafe(length),
        0,
        length,
        position,
      );
      if (bytesRead === 0) throw new TerminalError(`${this.name}: unexpected EOF`);
      yield buffer.subarray(0, bytesRead);
      position += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw new TerminalError(`cannot open ${path}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Rejects compressed archives: they have no random access. */
async function checkUncompressed(file: FileHandle): Promise<void> {
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
  const found = compressed.find(([magic]) => magic.every((byte, index) => buffer[index] === byte));
  if (found === undefined) return;
  throw new TerminalError(`the archive is compressed: unpack it with ${found[1]} first`);
}
