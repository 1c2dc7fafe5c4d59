import { join } from 'node:path';
import { StoredCatalog } from '../../../catalog/index/index.ts';
import type { ServableContent } from '../../../catalog/serve/index.ts';
import { errorMessage } from '../../../core/controller.ts';
import type { CatalogReference, PackageContent } from '../../../resolver/candidates/index.ts';
import { contentOf, type PackageRecord } from './package-record.ts';
import { recordsFolder } from './write-content.ts';

interface StoredPackage {
  /** Number of its record. */
  readonly record: number;
  /** Of all of its blobs. */
  readonly digest: string;
}

/** The content of a package, or why it cannot be read. */
export type PackageResult = { readonly content: PackageContent } | { readonly problem: string };

/**
 * The content of a catalog in a directory that `writeContent` has filled. Keeps offsets and names in
 * memory.
 */
export class CatalogContent implements ServableContent {
  readonly blobs: StoredCatalog;
  readonly #records: StoredCatalog;
  readonly #packages = new Map<string, StoredPackage>();

  private constructor(blobs: StoredCatalog, records: StoredCatalog) {
    this.blobs = blobs;
    this.#records = records;
    for (let record = 0; record < records.index.blobs; record += 1) {
      const { package: name, name: digest } = records.index.blob(record);
      this.#packages.set(name, { record, digest });
    }
  }

  /** @throws Error for a directory without complete content */
  static async open(directory: string): Promise<CatalogContent> {
    const blobs = await StoredCatalog.open(directory);
    try {
      return new CatalogContent(blobs, await StoredCatalog.open(join(directory, recordsFolder)));
    } catch (error) {
      await blobs[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Names of all packages. */
  get packages(): ReadonlySet<string> {
    return new Set(this.#packages.keys());
  }

  /** Names of packages whose blobs differ from those in another content. */
  changedSince(other: CatalogContent): ReadonlySet<string> {
    const names = new Set([...this.#packages.keys(), ...other.#packages.keys()]);
    for (const name of names) {
      if (this.#packages.get(name)?.digest === other.#packages.get(name)?.digest) {
        names.delete(name);
      }
    }
    return names;
  }

  /** Reads a package from disk; undefined if the catalog does not have it. */
  async findPackage(name: string, catalog: CatalogReference): Promise<PackageResult | undefined> {
    const stored = this.#packages.get(name);
    if (stored === undefined) return undefined;
    try {
      for await (const { value } of this.#records.blobs([stored.record])) {
        const { problem } = value;
        if (typeof problem === 'string') return { problem };
        return { content: contentOf(value as unknown as PackageRecord, { catalog, name }) };
      }
      throw new Error('its record is empty');
    } catch (error) {
      return { problem: `package ${name} cannot be read from the disk: ${errorMessage(error)}` };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.blobs[Symbol.asyncDispose]();
    await this.#records[Symbol.asyncDispose]();
  }
}
