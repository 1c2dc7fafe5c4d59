import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compareBytes } from '../../api/byte-order.ts';
import { type Blob, readBlobs } from '../blobs/index.ts';
import { FileReader } from './file-reader.ts';
import { IgnorePatterns } from './ignore-patterns.ts';

const ignoreFile = '.indexignore';

interface LoadOptions {
  readonly signal?: AbortSignal;
  /** Load only blobs of this package. */
  readonly package?: string;
}

/**
 * The blobs of a catalog's directory: of every file that no `.indexignore` excludes, whatever its
 * name, in lexical order, and of each file in its order. Only one file is in memory at a time.
 * @throws BlobError for the first unreadable blob, TerminalError for an unreadable file.
 */
export async function* loadDirectory(
  directory: string,
  { signal, package: wanted }: LoadOptions = {},
): AsyncGenerator<Blob> {
  const files = await filesOf(directory);
  const reader = new FileReader(directory);
  const ignored = ignorePatterns(reader, files);
  for (const file of files) {
    signal?.throwIfAborted();
    const parts = file.split('/');
    if (parts.at(-1) === ignoreFile || ignored.ignores(parts)) continue;
    for (const blob of readBlobs(file, reader.read(file))) {
      if (wanted === undefined || packageOf(blob) === wanted) yield blob;
    }
  }
}

/** An `olm.package` has its package in the field `name`. */
function packageOf(blob: Blob): string {
  return blob.schema === 'olm.package' ? blob.name : blob.package;
}

/** All files below a directory; links count as files. */
async function filesOf(directory: string): Promise<readonly string[]> {
  const files: string[] = [];
  await collect(directory, '', files);
  return files;
}

async function collect(directory: string, below: string, files: string[]): Promise<void> {
  const entries = await readdir(join(directory, below), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => compareBytes(a.name, b.name))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) await collect(directory, path, files);
    else files.push(path);
  }
}

function ignorePatterns(reader: FileReader, files: readonly string[]): IgnorePatterns {
  const patterns = new IgnorePatterns();
  // In the order of Go's walk: the files of a folder and of its folders, all by name.
  for (const file of files) {
    const parts = file.split('/');
    if (parts.at(-1) !== ignoreFile) continue;
    patterns.add(parts.slice(0, -1), reader.read(file).toString('utf8'));
  }
  return patterns;
}
