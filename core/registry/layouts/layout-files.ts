import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TerminalError } from '../../errors.ts';

/** Files of an OCI layout, in a directory or a tar. Paths are relative, with slashes. */
export interface LayoutFiles {
  /** Name for messages, such as `oci:./catalog`. */
  readonly name: string;
  /** Size of a file in bytes; undefined if it does not exist. */
  size(path: string): Promise<number | undefined>;
  /** Content of a file. */
  stream(path: string): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Content of a small file; undefined if it does not exist.
 * @throws TerminalError for more than `maxSize` bytes
 */
export async function readLayoutFile(
  files: LayoutFiles,
  path: string,
  maxSize: number,
): Promise<Uint8Array | undefined> {
  const size = await files.size(path);
  if (size === undefined) return undefined;
  if (size > maxSize) {
    throw new TerminalError(
      `${files.name}: ${path} has ${size} bytes, over the limit of ${maxSize}`,
    );
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of files.stream(path)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A layout that is a directory. */
export class DirectoryFiles implements LayoutFiles {
  readonly name: string;
  readonly #root: string;

  constructor(root: string) {
    this.name = `oci:${root}`;
    this.#root = root;
  }

  async size(path: string): Promise<number | undefined> {
    try {
      const stats = await stat(join(this.#root, path));
      return stats.isFile() ? stats.size : undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  stream(path: string): AsyncIterable<Uint8Array> {
    return createReadStream(join(this.#root, path)) as AsyncIterable<Uint8Array>;
  }

  async close(): Promise<void> {}
}
