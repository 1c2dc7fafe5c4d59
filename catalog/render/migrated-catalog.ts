import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/sdk.ts';
import { type RenderOptions, renderedParts } from './render.ts';
import { SpooledCatalog, type WriteCatalog } from './spooled-catalog.ts';

export interface MigrateOptions extends RenderOptions {
  /** The directory to write; it is made where it does not exist, and has to be empty. */
  readonly dir: string;
  readonly write: WriteCatalog;
  /** Of the files, without a dot. */
  readonly extension: 'json' | 'yaml';
}

const catalogs = new Set([
  'sqlite image',
  'sqlite file',
  'declarative config image',
  'declarative config directory',
] as const);

/**
 * Writes a catalog as files, one for each package: `PACKAGE/catalog.yaml`, and `catalog.yaml` for
 * blobs of no package.
 */
export async function migrateCatalog(reference: string, options: MigrateOptions): Promise<void> {
  const { dir, write, extension } = options;
  const entries = await readdir(dir).catch(nothingThere);
  if (entries.length > 0) throw new TerminalError(`output dir ${goQuote(dir)} must be empty`);
  using catalog = new SpooledCatalog(write);
  try {
    for await (const part of renderedParts([reference], { ...options, allowed: catalogs })) {
      catalog.add(part);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    throw new TerminalError(`render catalog image: ${errorMessage(error)}`, { cause: error });
  }
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
