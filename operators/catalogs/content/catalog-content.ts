import { StoredCatalog } from '../../../catalog/index/index.ts';
import type { ServableContent } from '../../../catalog/serve/index.ts';
import { PackageRecords } from './package-records.ts';

/**
 * The content of a catalog in a directory that `writeContent` has filled. Keeps offsets and names in
 * memory.
 */
export class CatalogContent implements ServableContent {
  readonly directory: string;
  readonly blobs: StoredCatalog;
  readonly records: PackageRecords;

  private constructor(directory: string, blobs: StoredCatalog, records: PackageRecords) {
    this.directory = directory;
    this.blobs = blobs;
    this.records = records;
  }

  /** @throws Error for a directory without complete content */
  static async open(directory: string): Promise<CatalogContent> {
    const blobs = await StoredCatalog.open(directory);
    try {
      return new CatalogContent(directory, blobs, await PackageRecords.open(directory));
    } catch (error) {
      await blobs[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Whether all of it is as it was written; false if that cannot be read. */
  async isWhole(): Promise<boolean> {
    try {
      return (await this.blobs.isWhole()) && (await this.records.isWhole());
    } catch {
      return false;
    }
  }

  /** The same for processes that open it by its directory. */
  async isWholeOnDisk(): Promise<boolean> {
    try {
      await using again = await CatalogContent.open(this.directory);
      return await again.isWhole();
    } catch {
      return false;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.blobs[Symbol.asyncDispose]();
    await this.records[Symbol.asyncDispose]();
  }
}
