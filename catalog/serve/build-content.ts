import { goQuote } from '../../api/go-quote.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import { Turns } from '../../core/platform/turns.ts';
import { type Blob, blobOfValue } from '../blobs/index.ts';
import { type CatalogIndex, StoredCatalog, storeCatalog } from '../index/index.ts';
import { validateParts } from '../validate/index.ts';
import { PackageDraft } from './grpc/package-draft.ts';
import { type PackageFacts, RegistryWriter } from './grpc/registry-content.ts';

export interface BuildOptions {
  readonly signal: AbortSignal;
  /** Called with the index before packages are validated; may throw. */
  readonly onStored?: ((index: CatalogIndex) => void) | undefined;
}

/**
 * Stores a catalog in a directory to serve it from there, and validates each package separately, as
 * `opm serve` does: packages cannot break one another. Holds one blob in memory at a time.
 * @throws TerminalError `build package index: process package "a": …`, and errors of `blobs`
 */
export async function buildContent(
  directory: string,
  blobs: AsyncIterable<Blob>,
  { signal, onStored }: BuildOptions,
): Promise<void> {
  await storeCatalog(directory, blobs, { signal });
  await using stored = await StoredCatalog.open(directory);
  onStored?.(stored.index);
  await using writer = await RegistryWriter.create(directory);
  const packages: PackageFacts[] = [];
  const turns = new Turns();
  for (const [name, numbers] of blobsByPackage(stored.index)) {
    signal.throwIfAborted();
    try {
      const draft = new PackageDraft(writer, numbers);
      await validateParts(draft.observe(blobsOf(stored, numbers, turns)));
      packages.push(draft.finish());
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      const message = `build package index: process package ${goQuote(name)}: ${errorMessage(error)}`;
      throw new TerminalError(message, { cause: error });
    }
  }
  await writer.finish(packages);
}

/** In the order in which `PackageDraft` needs the blobs of a package. */
const schemas = ['olm.package', 'olm.channel', 'olm.deprecations', 'olm.bundle'];

/**
 * Numbers of the blobs with these schemas, by package; an `olm.package` has the package as its
 * name.
 */
function blobsByPackage(index: CatalogIndex): ReadonlyMap<string, readonly number[]> {
  const packages = new Map<string, number[]>();
  for (const schema of schemas) {
    for (const number of index.find({ schema })) {
      const blob = index.blob(number);
      const owner = schema === 'olm.package' ? blob.name : blob.package;
      const numbers = packages.get(owner);
      if (numbers === undefined) packages.set(owner, [number]);
      else numbers.push(number);
    }
  }
  return packages;
}

/** Between blobs, the process answers requests: reads are far apart. */
async function* blobsOf(
  stored: StoredCatalog,
  numbers: readonly number[],
  turns: Turns,
): AsyncGenerator<Blob> {
  for await (const { value } of stored.blobs(numbers)) {
    if (turns.isDue) await turns.give();
    yield blobOfValue(value);
  }
}
