import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import type { SpooledCatalog } from './sqlite/spooled-catalog.ts';

/** @throws TerminalError for a directory with files; a missing one is fine. */
export async function checkEmpty(dir: string): Promise<void> {
  const entries = await readdir(dir).catch(nothingThere);
  if (entries.length > 0) throw new TerminalError(`output dir ${goQuote(dir)} must be empty`);
}

/**
 * Writes a catalog as one file per package: `PACKAGE/catalog.yaml`, and `catalog.yaml` for blobs
 * without a package. Creates a missing directory.
 */
export async function writeCatalogFiles(
  catalog: SpooledCatalog,
  dir: string,
  extension: 'json' | 'yaml',
): Promise<void> {
  await mkdir(dir, { recursive: true });
  for (const name of catalog.packages()) {
    if (!isLocal(name)) {
      throw new TerminalError(
        `invalid package name ${goQuote(name)}: must be a single local path element`,
      );
    }
    await mkdir(join(dir, name), { recursive: true });
    await writeFile(join(dir, name, `catalog.${extension}`), catalog.text(name));
  }
}

function nothingThere(error: unknown): readonly string[] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

function isLocal(name: string): boolean {
  return !isAbsolute(name) && normalize(name).split('/')[0] !== '..';
}
