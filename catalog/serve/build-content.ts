import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { type Blob, blobOfValue } from '../blobs/index.ts';
import { type CatalogIndex, StoredCatalog, storeCatalog } from '../index/index.ts';
import { validateCatalog } from '../validate/index.ts';

/**
 * Stores a catalog in a directory to serve it from there, and validates each package on its own, as
 * `opm serve` does: packages cannot break one another. Holds one blob in memory at a time.
 * @throws TerminalError `process package "a": …`, or what the blobs throw
 */
export async function buildContent(
  directory: string,
  blobs: AsyncIterable<Blob>,
  signal: AbortSignal,
): Promise<void> {
  await storeCatalog(directory, blobs, signal);
  await using stored = await StoredCatalog.open(directory);
  for (const [name, numbers] of blobsByPackage(stored.index)) {
    signal.throwIfAborted();
    try {
      await validateCatalog(blobsOf(stored, numbers));
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      const message = `process package ${goQuote(name)}: ${errorMessage(error)}`;
      throw new TerminalError(message, { cause: error });
    }
  }
}

const schemas: ReadonlySet<string> = new Set([
  'olm.package',
  'olm.channel',
  'olm.bundle',
  'olm.deprecations',
]);

/** Numbers of the blobs of each package that have a meaning there; an `olm.package` names itself. */
function blobsByPackage(index: CatalogIndex): ReadonlyMap<string, readonly number[]> {
  const packages = new Map<string, number[]>();
  for (let number = 0; number < index.blobs; number += 1) {
    const blob = index.blob(number);
    if (!schemas.has(blob.schema)) continue;
    const owner = blob.schema === 'olm.package' ? blob.name : blob.package;
    const numbers = packages.get(owner);
    if (numbers === undefined) packages.set(owner, [number]);
    else numbers.push(number);
  }
  return packages;
}

async function* blobsOf(stored: StoredCatalog, numbers: readonly number[]): AsyncGenerator<Blob> {
  for (const number of numbers) yield blobOfValue((await stored.blob(number)).value);
}
