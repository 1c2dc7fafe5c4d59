import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compareBytes } from '../../api/byte-order.ts';
import { TerminalError } from '../../core/errors.ts';
import { type Blob, BlobError, readBlobs } from '../blobs/index.ts';
import { IgnorePatterns } from './ignore-patterns.ts';

const ignoreFile = '.indexignore';

interface LoadOptions {
  readonly signal?: AbortSignal;
  /** Leaves out blobs of other packages. */
  readonly package?: string;
}

/**
 * The blobs of a catalog's directory: every file that no `.indexignore` leaves out, whatever its name,
 * in lexical order, and the blobs of each in its order. One file is in memory at a time.
 * @throws BlobError for the first blob that cannot be read, TerminalError for a file that cannot.
 */
export async function* loadDirectory(
  directory: string,
  { signal, package: wanted }: LoadOptions = {},
): AsyncGenerator<Blob> {
  const files = await filesOf(directory);
  const ignored = await ignorePatterns(directory, files);
  for (const file of files) {
    signal?.throwIfAborted();
    const parts = file.split('/');
    if (parts.at(-1) === ignoreFile || ignored.ignores(parts)) continue;
    for (const blob of readBlobs(file, await contentOf(directory, file))) {
      if (wanted === undefined || packageOf(blob) === wanted) yield blob;
    }
  }
}

/** An `olm.package` names itself. */
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

async function ignorePatterns(
  directory: string,
  files: readonly string[],
): Promise<IgnorePatterns> {
  const patterns = new IgnorePatterns();
  // As Go walks: the files of a folder and those of its folders, all by name.
  for (const file of files) {
    const parts = file.split('/');
    if (parts.at(-1) !== ignoreFile) continue;
    patterns.add(parts.slice(0, -1), (await contentOf(directory, file)).toString('utf8'));
  }
  return patterns;
}

/** What one file may have: a Buffer of Node and its text must hold it. */
const maxFileBytes = 512 * 1024 * 1024;

async function contentOf(directory: string, file: string): Promise<Buffer> {
  try {
    const path = join(directory, file);
    const found = await lstat(path);
    if (found.size > maxFileBytes) {
      const message = `${file} has ${found.size} bytes, more than ${maxFileBytes}: split it by package`;
      throw new BlobError(message, { file, line: 1 });
    }
    return await readFile(path);
  } catch (error) {
    throw fileError(error, directory, file);
  }
}

/** In the words of Go's file system, of which opm prints what it gets. */
function fileError(error: unknown, directory: string, file: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EISDIR':
      return new TerminalError(`read ${directory.replace(/\/$/, '')}/${file}: is a directory`);
    case 'ENOENT':
      return new TerminalError(`open ${file}: no such file or directory`);
    case 'EACCES':
      return new TerminalError(`open ${file}: permission denied`);
    default:
      return error;
  }
}
