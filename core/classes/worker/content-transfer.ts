import type { BundleFiles } from '../../contracts/bundle-files.ts';

/** A bundle's tree without its content. */
export interface FileTable {
  readonly paths: readonly string[];
  /** Bytes, in the order of the paths. */
  readonly sizes: readonly number[];
  readonly directories: readonly string[];
}

/** For calls that are about no content. */
export const noFiles: BundleFiles = { files: new Map(), directories: new Set() };

/** Large enough to be fast, small enough to be sent and read in a millisecond or two. */
export const pieceBytes = 512 * 1024;

export function fileTable({ files, directories }: BundleFiles): FileTable {
  return {
    paths: [...files.keys()],
    sizes: Array.from(files.values(), (content) => content.byteLength),
    directories: [...directories],
  };
}

/** Entries of one message: with paths as long as they may be, it stays below what may come at once. */
const tableEntries = 500;

/** The table in pieces, at least one. */
export function* tablePieces({ paths, sizes, directories }: FileTable): Generator<FileTable> {
  const entries = Math.max(paths.length, directories.length, 1);
  for (let start = 0; start < entries; start += tableEntries) {
    const end = start + tableEntries;
    yield {
      paths: paths.slice(start, end),
      sizes: sizes.slice(start, end),
      directories: directories.slice(start, end),
    };
  }
}

/** The content of all files, in order, as views without copies; each piece has up to `pieceBytes`. */
export function* contentPieces({ files }: BundleFiles): Generator<readonly Uint8Array[]> {
  let parts: Uint8Array[] = [];
  let room = pieceBytes;
  for (const content of files.values()) {
    for (let start = 0; start < content.byteLength; ) {
      const part = content.subarray(start, start + room);
      parts.push(part);
      start += part.byteLength;
      room -= part.byteLength;
      if (room > 0) continue;
      yield parts;
      parts = [];
      room = pieceBytes;
    }
  }
  if (parts.length > 0) yield parts;
}

/** Puts a bundle's files together again from their table and the pieces of their content. */
export class ContentCollector {
  readonly #table: FileTable;
  readonly #content: Uint8Array;
  #received = 0;

  constructor(table: FileTable) {
    this.#table = table;
    this.#content = new Uint8Array(table.sizes.reduce((sum, size) => sum + size, 0));
  }

  get complete(): boolean {
    return this.#received === this.#content.byteLength;
  }

  /** @throws RangeError where there is more than the table says. */
  add(part: Uint8Array): void {
    this.#content.set(part, this.#received);
    this.#received += part.byteLength;
  }

  /** Views of one common buffer. */
  files(): BundleFiles {
    const files = new Map<string, Uint8Array>();
    let end = 0;
    for (const [index, path] of this.#table.paths.entries()) {
      const start = end;
      end += this.#table.sizes[index] ?? 0;
      files.set(path, this.#content.subarray(start, end));
    }
    return { files, directories: new Set(this.#table.directories) };
  }
}
