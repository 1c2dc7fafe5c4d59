import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareBytes } from '../../api/byte-order.ts';
import { TerminalError } from '../../core/errors.ts';
import { type CatalogConfig, ownText } from '../blobs/index.ts';

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
  readonly end: number;
}

const none: CatalogConfig = {
  packages: [],
  channels: [],
  bundles: [],
  deprecations: [],
  others: [],
};

/** Bytes that wait before they are written, and that are read at a time. */
const blockSize = 256 * 1024;

/**
 * A catalog that is written in opm's order although its blobs come in another: their texts wait in a
 * temporary file, and only their places are kept in memory.
 */
export class SpooledCatalog implements Disposable {
  readonly #write: WriteCatalog;
  readonly #dir = mkdtempSync(join(tmpdir(), 'rukpak-render-'));
  readonly #file = openSync(join(this.#dir, 'blobs'), 'w+');
  readonly #places: Place[] = [];
  #byPackage: ReadonlyMap<string, readonly Place[]> | undefined;
  readonly #block = Buffer.allocUnsafeSlow(blockSize);
  /** Bytes of the block that wait, and those of the file. */
  #waiting = 0;
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

  /**
   * The text of all blobs, or of those of a package, in opm's order. Each piece is there until the next
   * one is asked for.
   */
  *text(packageName?: string): Generator<Uint8Array> {
    this.#flush();
    const wanted = packageName === undefined ? this.#places : this.#placesOf(packageName);
    for (const { start, end } of joined(wanted.toSorted(byOrder))) {
      for (let at = start; at < end; ) {
        const length = Math.min(end - at, blockSize);
        const read = readSync(this.#file, this.#block, 0, length, at);
        if (read === 0) throw new TerminalError('the temporary file was cut short');
        yield this.#block.subarray(0, read);
        at += read;
      }
    }
  }

  #placesOf(packageName: string): readonly Place[] {
    this.#byPackage ??= Map.groupBy(this.#places, (place) => place.package);
    return this.#byPackage.get(packageName) ?? [];
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** What the writer leaves out, such as a channel of no package, has no place. */
  #put(order: Order, blobs: Partial<CatalogConfig>): void {
    const start = this.#size + this.#waiting;
    for (const text of this.#write({ ...none, ...blobs })) this.#append(text);
    const end = this.#size + this.#waiting;
    if (end === start) return;
    const name = ownText(order.name);
    this.#places.push({ package: ownText(order.package), rank: order.rank, name, start, end });
  }

  #append(text: string): void {
    const size = Buffer.byteLength(text);
    if (this.#waiting + size > blockSize) this.#flush();
    if (size > blockSize) this.#writeAll(Buffer.from(text));
    else this.#waiting += this.#block.write(text, this.#waiting);
  }

  #flush(): void {
    this.#writeAll(this.#block.subarray(0, this.#waiting));
    this.#waiting = 0;
  }

  #writeAll(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.byteLength; ) {
      at += writeSync(this.#file, bytes, at, bytes.byteLength - at, this.#size + at);
    }
    this.#size += bytes.byteLength;
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Ranges that follow one another as one: catalogs are often written in opm's order. */
function* joined(ranges: readonly Range[]): Generator<Range> {
  let last: Range | undefined;
  for (const { start, end } of ranges) {
    if (last?.end === start) last = { start: last.start, end };
    else {
      if (last !== undefined) yield last;
      last = { start, end };
    }
  }
  if (last !== undefined) yield last;
}

/** Those of no package last, in the order in which they came. */
function byOrder(a: Order, b: Order): number {
  if (a.package === '' || b.package === '') {
    return Number(a.package === '') - Number(b.package === '');
  }
  return compareBytes(a.package, b.package) || a.rank - b.rank || compareBytes(a.name, b.name);
}
