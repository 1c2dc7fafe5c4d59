import type { CatalogContent } from '../content/catalog-content.ts';
import type { CatalogKey } from '../content/content-store.ts';
import type { Entry, Serving } from './catalog-entry.ts';

/** Contents that the disk has damaged while they are served. */
export class DamagedContents {
  readonly #damaged = new WeakSet<CatalogContent>();
  readonly #examined = new WeakSet<CatalogContent>();
  readonly #listeners = new Set<(key: CatalogKey) => void>();

  /** Calls the listener for each catalog whose content is found to be damaged. */
  onFound(listener: (key: CatalogKey) => void): void {
    this.#listeners.add(listener);
  }

  has(serving: Serving | undefined): boolean {
    return serving !== undefined && this.#damaged.has(serving.content);
  }

  /** Reads the content of these catalogs as a whole. */
  suspect(entries: readonly Entry[]): void {
    for (const { identity, serving } of entries) {
      if (serving !== undefined) void this.examine(identity, serving);
    }
  }

  /** Reads content as a whole, because a part of it could not be read. */
  async examine(key: CatalogKey, { catalog, content }: Serving): Promise<void> {
    if (this.#examined.has(content)) return;
    this.#examined.add(content);
    await using _open = catalog.borrow();
    if ((await content.isWhole()) && (await content.isWholeOnDisk())) {
      // The disk could not be read for another reason, and may be damaged later.
      this.#examined.delete(content);
      return;
    }
    this.#damaged.add(content);
    for (const listener of this.#listeners) listener(key);
  }
}
