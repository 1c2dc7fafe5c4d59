import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Maximum bytes of a file that is read into memory at once. */
const atOnce = 4 * 1024 * 1024;

interface SourceFile {
  readonly path: string;
  readonly size: number;
  /** Nanoseconds since the epoch. */
  readonly modified: bigint;
  readonly inode: bigint;
}

/**
 * Digest of the names, sizes, inodes and modification times of all files below a directory. Does
 * not read the files, so it misses an edit that keeps all four.
 */
export async function attributesDigest(directory: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const { path, size, modified, inode } of filesOf(directory)) {
    hash.update(`${path}\0${size}\0${modified}\0${inode}\0`);
  }
  return hash.digest('hex');
}

/**
 * Digest of the names and bytes of all files below a directory. Reads all files: copies have the
 * same digest, and every edit changes it.
 */
export async function contentDigest(directory: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const { path, size } of filesOf(directory)) {
    hash.update(`${path}\0${size}\0`);
    signal?.throwIfAborted();
    const file = join(directory, path);
    if (size <= atOnce) hash.update(await readFile(file));
    else for await (const bytes of createReadStream(file)) hash.update(bytes as Uint8Array);
  }
  return hash.digest('hex');
}

/** All regular files below a directory, including links to files, in the order of their names. */
async function* filesOf(directory: string, below = ''): AsyncGenerator<SourceFile> {
  const entries = await readdir(join(directory, below), { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      yield* filesOf(directory, path);
      continue;
    }
    // The reader of the catalog refuses dangling links.
    const about = await stat(join(directory, path), { bigint: true }).catch(() => undefined);
    if (about?.isFile() !== true) continue;
    yield { path, size: Number(about.size), modified: about.mtimeNs, inode: about.ino };
  }
}
