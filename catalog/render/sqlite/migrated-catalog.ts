import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { checkEmpty, writeCatalogFiles } from '../catalog-files.ts';
import { type RenderOptions, renderedParts } from '../render.ts';
import { SpooledCatalog, type WriteCatalog } from './spooled-catalog.ts';

export interface MigrateOptions extends RenderOptions {
  /** The directory to write: it must be empty, and is created if missing. */
  readonly dir: string;
  readonly write: WriteCatalog;
  /** File extension, without a dot. */
  readonly extension: 'json' | 'yaml';
}

const catalogs = new Set([
  'sqlite image',
  'sqlite file',
  'declarative config image',
  'declarative config directory',
] as const);

/**
 * Writes a catalog as one file per package: `PACKAGE/catalog.yaml`, and `catalog.yaml` for blobs
 * without a package.
 */
export async function migrateCatalog(reference: string, options: MigrateOptions): Promise<void> {
  const { dir, write, extension } = options;
  await checkEmpty(dir);
  using catalog = new SpooledCatalog(write);
  try {
    for await (const part of renderedParts([reference], { ...options, allowed: catalogs })) {
      catalog.add(part);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    throw new TerminalError(`render catalog image: ${errorMessage(error)}`, { cause: error });
  }
  await writeCatalogFiles(catalog, dir, { extension, signal: options.signal });
}
