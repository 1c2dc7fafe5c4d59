import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../api/json.ts';
import { type Blob, BlobError, blobOfValue } from '../../../catalog/blobs/index.ts';
import {
  type BlobToStore,
  type CatalogIndex,
  StoredCatalog,
  storeCatalog,
} from '../../../catalog/index/index.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { recordOf } from './package-record.ts';
import { recordsFolder } from './package-records.ts';

/** Schema of a record; its package is the package, its name the digest of the package's blobs. */
const recordSchema = 'package-record';

export interface ContentLimits {
  /** Maximum number of blobs. */
  readonly maxBlobs: number;
  /** Maximum bytes of all schemas, packages and names of blobs. */
  readonly maxNameBytes: number;
}

/**
 * Writes the content of a catalog into an empty directory: its blobs with their index, and a record
 * of each package. Holds one blob or one package in memory at a time, and the names of all.
 * @throws TerminalError for a blob that cannot be read, or a limit
 */
export async function writeContent(
  directory: string,
  blobs: AsyncIterable<Blob>,
  { limits, signal }: { readonly limits: ContentLimits; readonly signal: AbortSignal },
): Promise<void> {
  await storeCatalog(directory, limited(blobs, limits), signal);
  await using stored = await StoredCatalog.open(directory);
  const records = join(directory, recordsFolder);
  await mkdir(records);
  await storeCatalog(records, recordsOf(stored), signal);
}

async function* limited(
  blobs: AsyncIterable<Blob>,
  { maxBlobs, maxNameBytes }: ContentLimits,
): AsyncGenerator<Blob> {
  let count = 0;
  let bytes = 0;
  for await (const blob of blobs) {
    count += 1;
    bytes += blob.schema.length + blob.package.length + blob.name.length;
    if (count > maxBlobs) {
      throw new TerminalError(`the catalog has more than the limit of ${maxBlobs} blobs`);
    }
    if (bytes > maxNameBytes) {
      throw new TerminalError(
        `the names in the catalog have more than the limit of ${maxNameBytes} bytes`,
      );
    }
    yield blob;
  }
}

async function* recordsOf(stored: StoredCatalog): AsyncGenerator<BlobToStore> {
  for (const [name, numbers] of blobsByPackage(stored.index)) {
    const hash = createHash('sha256');
    for await (const bytes of stored.read(numbers.map((number) => stored.index.range(number)))) {
      hash.update(bytes);
    }
    const value = await recordOrProblem(stored, numbers);
    yield { schema: recordSchema, package: name, name: hash.digest('hex'), value };
  }
}

/** A broken package does not break the others. */
async function recordOrProblem(
  stored: StoredCatalog,
  numbers: readonly number[],
): Promise<JsonObject> {
  try {
    return (await recordOf(blobsOf(stored, numbers))) as unknown as JsonObject;
  } catch (error) {
    if (!(error instanceof TerminalError || error instanceof BlobError)) throw error;
    return { problem: errorMessage(error) };
  }
}

async function* blobsOf(stored: StoredCatalog, numbers: readonly number[]): AsyncGenerator<Blob> {
  for await (const { value } of stored.blobs(numbers)) yield blobOfValue(value);
}

/** Numbers of the blobs of each package, in the order of the file; of blobs without one, none. */
function blobsByPackage(index: CatalogIndex): ReadonlyMap<string, readonly number[]> {
  const packages = new Map<string, number[]>();
  for (let number = 0; number < index.blobs; number += 1) {
    const blob = index.blob(number);
    const name = blob.schema === 'olm.package' ? blob.name : blob.package;
    if (name === '') continue;
    const numbers = packages.get(name);
    if (numbers === undefined) packages.set(name, [number]);
    else numbers.push(number);
  }
  return packages;
}
