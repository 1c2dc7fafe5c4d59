import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { compareBytes } from '../../api/byte-order.ts';
import { Turns } from '../../core/platform/turns.ts';
import { type Blob, readBlobs } from '../blobs/index.ts';
import { FileReader } from './file-reader.ts';
import { IgnorePatterns } from './ignore-patterns.ts';

const ignoreFile = '.indexignore';

/** Files to list before a server may answer requests. */
const filesPerTurn = 256;

interface LoadOptions {
  readonly signal?: AbortSignal;
  /** Load only blobs of this package. */
  readonly package?: string;
}

/**
 * The blobs of a catalog's directory: of every file that no `.indexignore` excludes, whatever its
 * name, in lexical order, and of each file in its order. Only one file is in memory at a time.
 * @throws BlobError for the first unreadable blob, TerminalError for an unreadable file, the signal's
 * reason.
 */
export async function* loadDirectory(
  directory: string,
  { signal, package: wanted }: LoadOptions = {},
): AsyncGenerator<Blob> {
  const files = await filesOf(directory);
  const reader = new FileReader(directory);
  const turns = new Turns();
  for await (const file of withoutIgnored(reader, files, { turns, signal })) {
    for (const blob of readBlobs(file, reader.read(file))) {
      // A signal can arrive between turns only, and a file may have hundreds of megabytes.
      if (turns.isDue) await turns.give();
      signal?.throwIfAborted();
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
  // A thread that reads a folder takes longer to start than the kernel takes to read it.
  for (const file of filesBelow(directory, '')) {
    if (files.push(file) % filesPerTurn === 0) await othersTurn();
  }
  return files;
}

function* filesBelow(directory: string, below: string): Generator<string> {
  const entries = readdirSync(join(directory, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => compareBytes(a.name, b.name))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(directory, path);
    else yield path;
  }
}

async function* withoutIgnored(
  reader: FileReader,
  files: readonly string[],
  { turns, signal }: { readonly turns: Turns; readonly signal: AbortSignal | undefined },
): AsyncGenerator<string> {
  const ignored = ignorePatterns(reader, files);
  for (const file of files) {
    // Each file is compared with all lines of all ignore files.
    if (turns.isDue) await turns.give();
    signal?.throwIfAborted();
    const parts = file.split('/');
    if (parts.at(-1) !== ignoreFile && !ignored.ignores(parts)) yield file;
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
