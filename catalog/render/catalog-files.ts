import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import { throwIfStopped } from '../../core/platform/stop-signal.ts';
import { fillDirectory, leftovers } from '../new-directory.ts';
import type { SpooledCatalog } from './sqlite/spooled-catalog.ts';

/** @throws TerminalError for a directory with files; a missing one is fine. */
export async function checkEmpty(dir: string): Promise<void> {
  const entries = await readdir(dir).catch(nothingThere);
  if (entries.length === 0) return;
  throw new TerminalError(`output dir ${goQuote(dir)} must be empty${leftovers(dir, entries)}`);
}

interface CatalogFilesOptions {
  readonly extension: 'json' | 'yaml';
  readonly signal: AbortSignal;
}

/**
 * Writes a catalog into a new or empty directory, as one file per package: `PACKAGE/catalog.yaml`, and
 * `catalog.yaml` for blobs without a package. On failure, the directory stays as it was.
 * @throws TerminalError for a directory with files or an invalid name; the signal's reason
 */
export async function writeCatalogFiles(
  catalog: SpooledCatalog,
  dir: string,
  { extension, signal }: CatalogFilesOptions,
): Promise<void> {
  const names = catalog.packages();
  const invalid = names.find((name) => !isLocal(name));
  if (invalid !== undefined) {
    throw new TerminalError(
      `invalid package name ${goQuote(invalid)}: must be a single local path element`,
    );
  }
  await fillDirectory(dir, async (partial) => {
    for (const name of names) {
      await mkdir(join(partial, name), { recursive: true });
      const file = join(name, `catalog.${extension}`);
      const text = untilAborted(catalog.text(name), signal);
      // Names such as `b/../a` and `a` lead to one file, and so do `A` and `a` on some file systems.
      await writeFile(join(partial, file), text, { flag: 'wx' }).catch((error: unknown) => {
        throw isThere(error) ? takenFile(name, file) : error;
      });
    }
    await throwIfStopped(signal);
  });
}

function isThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

function takenFile(name: string, file: string): TerminalError {
  return new TerminalError(
    `invalid package name ${goQuote(name)}: its file ${file} is that of another package`,
  );
}

function* untilAborted<T>(pieces: Iterable<T>, signal: AbortSignal): Generator<T> {
  for (const piece of pieces) {
    signal.throwIfAborted();
    yield piece;
  }
}

function nothingThere(error: unknown): readonly string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

function isLocal(name: string): boolean {
  return !isAbsolute(name) && normalize(name).split('/')[0] !== '..';
}
