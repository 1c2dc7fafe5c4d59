import { join } from 'node:path';
import { StoredCatalog } from '../../../catalog/index/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import type { CatalogReference, PackageContent } from '../../../resolver/candidates/index.ts';
import type { GroupVersionKind } from '../../../resolver/constraints/index.ts';
import { contentOf, type PackageRecord } from './package-record.ts';

/** Folder of the records of all packages, below the folder of the content. */
export const recordsFolder = 'packages';
/** Schema of a record; its package is the package, its name the digest of the package's blobs. */
export const recordSchema = 'package-record';
/** Schema of an API that any bundle of the package provides; its name is `apiName`. */
export const apiSchema = 'package-api';

/** How the index names an API. */
export function apiName({ group, version, kind }: GroupVersionKind): string {
  return `${kind}.${version}.${group}`;
}

const cure =
  'If the content on the disk is damaged, the controller fetches the catalog again by itself';

interface StoredPackage {
  /** Number of its record. */
  readonly record: number;
  /** Of all of its blobs. */
  readonly digest: string;
}

/** The content of a package, or why it cannot be read. */
export type PackageResult =
  | { readonly content: PackageContent }
  /** Unreadable on the disk, whose content may be damaged; otherwise the blobs are broken. */
  | { readonly problem: string; readonly isUnreadable?: true };

/** What resolving needs of a catalog's packages, in a directory that `writeContent` has filled. */
export class PackageRecords implements AsyncDisposable {
  readonly #records: StoredCatalog;
  readonly #packages = new Map<string, StoredPackage>();

  private constructor(records: StoredCatalog) {
    this.#records = records;
    for (const record of records.index.find({ schema: recordSchema })) {
      const { package: name, name: digest } = records.index.blob(record);
      this.#packages.set(name, { record, digest });
    }
  }

  /** @throws Error for a directory without complete content */
  static async open(directory: string): Promise<PackageRecords> {
    return new PackageRecords(await StoredCatalog.open(join(directory, recordsFolder)));
  }

  /** Names of all packages. */
  get packages(): ReadonlySet<string> {
    return new Set(this.#packages.keys());
  }

  /** Names of packages whose blobs differ from those in another content. */
  changedSince(other: PackageRecords): ReadonlySet<string> {
    const names = new Set([...this.#packages.keys(), ...other.#packages.keys()]);
    for (const name of names) {
      if (this.#packages.get(name)?.digest === other.#packages.get(name)?.digest) {
        names.delete(name);
      }
    }
    return names;
  }

  /** Names of packages with a bundle that provides an API, sorted. */
  packagesProviding(api: GroupVersionKind): readonly string[] {
    const { index } = this.#records;
    const found = index.find({ schema: apiSchema, name: apiName(api) });
    return found.map((row) => index.blob(row).package).toSorted();
  }

  /** Bytes that `findPackage` reads. */
  bytesOf(name: string): number {
    const stored = this.#packages.get(name);
    if (stored === undefined) return 0;
    const { start, end } = this.#records.index.range(stored.record);
    return end - start;
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
      const problem = `package ${name} cannot be read from the disk: ${errorMessage(error)}. ${cure}`;
      return { problem, isUnreadable: true };
    }
  }

  async isWhole(): Promise<boolean> {
    return await this.#records.isWhole();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#records[Symbol.asyncDispose]();
  }
}
