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
import { providedApis } from '../../../resolver/constraints/index.ts';
import { type PackageRecord, recordOf } from './package-record.ts';
import { apiName, apiSchema, recordSchema, recordsFolder } from './package-records.ts';

export interface ContentLimits {
  /** Maximum bytes of all blobs as JSON, and of all records (default 4 GiB). */
  readonly maxBytes?: number;
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
  const store = { signal, maxBytes: limits.maxBytes };
  await storeCatalog(directory, limited(blobs, limits), store);
  await using stored = await StoredCatalog.open(directory);
  const records = join(directory, recordsFolder);
  await mkdir(records);
  const found = limited(recordsOf(stored), recordLimits(limits), 'packages and APIs');
  await storeCatalog(records, found, store);
}

async function* limited<T extends BlobToStore>(
  blobs: AsyncIterable<T>,
  { maxBlobs, maxNameBytes }: ContentLimits,
  noun = 'blobs',
): AsyncGenerator<T> {
  let count = 0;
  let bytes = 0;
  for await (const blob of blobs) {
    count += 1;
    bytes += blob.schema.length + blob.package.length + blob.name.length;
    if (count > maxBlobs) {
      throw new TerminalError(`the catalog has more than the limit of ${maxBlobs} ${noun}`);
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
    const record = await recordOrProblem(stored, numbers);
    const value = record as unknown as JsonObject;
    yield { schema: recordSchema, package: name, name: hash.digest('hex'), value };
    if ('problem' in record) continue;
    for (const api of apisOf(record)) {
      yield { schema: apiSchema, package: name, name: api, value: {} };
    }
  }
}

function apisOf({ bundles }: PackageRecord): ReadonlySet<string> {
  return new Set(bundles.flatMap(({ properties }) => providedApis(properties)).map(apiName));
}

/** Each record has the digest of its blobs as name, which no limit of the blobs' names counts. */
function recordLimits({ maxBlobs, maxNameBytes }: ContentLimits): ContentLimits {
  const recordBytes = 64 + 2 * recordSchema.length;
  return { maxBlobs: 2 * maxBlobs, maxNameBytes: 2 * maxNameBytes + 2 * maxBlobs * recordBytes };
}

/** A broken package does not break the others. */
async function recordOrProblem(
  stored: StoredCatalog,
  numbers: readonly number[],
): Promise<PackageRecord | { readonly problem: string }> {
  try {
    return await recordOf(blobsOf(stored, numbers));
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
