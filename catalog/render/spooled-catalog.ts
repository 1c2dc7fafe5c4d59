import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareBytes } from '../../api/byte-order.ts';
import type { CatalogConfig } from '../blobs/index.ts';

/** Writes the blobs of a catalog as text, one piece a blob. */
export type WriteCatalog = (config: CatalogConfig) => Iterable<string>;

/** What the order of a blob depends on. */
interface Order {
  readonly package: string;
  /** Of its kind. */
  readonly rank: number;
  readonly name: string;
}

/** Where the text of a blob is. */
interface Place extends Order {
  readonly start: number;
  readonly size: number;
}

const none: CatalogConfig = {
  packages: [],
  channels: [],
  bundles: [],
  deprecations: [],
  others: [],
};

const flushed = 4 * 1024 * 1024;

/**
 * A catalog that is written in opm's order although its blobs come in another: their texts wait in a
 * temporary file, and only their places are kept in memory.
 */
export class SpooledCatalog implements Disposable {
  readonly #write: WriteCatalog;
  readonly #dir = mkdtempSync(join(tmpdir(), 'rukpak-render-'));
  readonly #file = openSync(join(this.#dir, 'blobs'), 'w+');
  readonly #places: Place[] = [];
  #pending: Buffer[] = [];
  #pendingSize = 0;
  #size = 0;

  constructor(write: WriteCatalog) {
    this.#write = write;
  }

  add(config: CatalogConfig): void {
    for (const blob of config.packages) {
      this.#put({ package: blob.name, rank: 0, name: '' }, { packages: [blob] });
    }
    for (const blob of config.channels) {
      this.#put({ package: blob.package, rank: 1, name: blob.name }, { channels: [blob] });
    }
    for (const blob of config.bundles) {
      this.#put({ package: blob.package, rank: 2, name: blob.name }, { bundles: [blob] });
    }
    for (const blob of config.others) {
      this.#put({ package: blob.package, rank: 3, name: blob.schema }, { others: [blob] });
    }
    for (const blob of config.deprecations) {
      this.#put({ package: blob.package, rank: 4, name: '' }, { deprecations: [blob] });
    }
  }

  /** Packages in the order in which they are written; the last is empty where blobs have none. */
  packages(): readonly string[] {
    const names = new Set(this.#places.map((place) => place.package));
    const named = [...names].filter((name) => name !== '').toSorted(compareBytes);
    return names.has('') ? [...named, ''] : named;
  }

  /** The text of all blobs, or of those of a package, in opm's order. */
  *text(packageName?: string): Generator<Uint8Array> {
    this.#flush();
    const wanted =
      packageName === undefined
        ? this.#places
        : this.#places.filter((place) => place.package === packageName);
    for (const { start, size } of wanted.toSorted(byOrder)) {
      const buffer = Buffer.allocUnsafe(size);
      readSync(this.#file, buffer, 0, size, start);
      yield buffer;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** What the writer leaves out, such as a channel of no package, has no place. */
  #put(order: Order, blobs: Partial<CatalogConfig>): void {
    const text = Buffer.from([...this.#write({ ...none, ...blobs })].join(''));
    if (text.byteLength === 0) return;
    this.#places.push({ ...order, start: this.#size, size: text.byteLength });
    this.#pending.push(text);
    this.#size += text.byteLength;
    this.#pendingSize += text.byteLength;
    if (this.#pendingSize >= flushed) this.#flush();
  }

  #flush(): void {
    if (this.#pendingSize === 0) return;
    const bytes = Buffer.concat(this.#pending);
    const start = this.#size - this.#pendingSize;
    for (let at = 0; at < bytes.byteLength; ) {
      at += writeSync(this.#file, bytes, at, bytes.byteLength - at, start + at);
    }
    this.#pending = [];
    this.#pendingSize = 0;
  }
}

/** Those of no package last, in the order in which they came. */
function byOrder(a: Order, b: Order): number {
  if (a.package === '' || b.package === '') {
    return Number(a.package === '') - Number(b.package === '');
  }
  return compareBytes(a.package, b.package) || a.rank - b.rank || compareBytes(a.name, b.name);
}
