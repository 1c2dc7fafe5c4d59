import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareBytes } from '../../../api/byte-order.ts';
import { TerminalError } from '../../../core/errors.ts';
import { type CatalogConfig, ownText } from '../../blobs/index.ts';

/** Writes the blobs of a catalog as text. */
export type WriteCatalog = (config: CatalogConfig) => Iterable<string>;

/** Sort key of a blob. */
interface Order {
  readonly package: string;
  /** Rank of the blob's kind. */
  readonly rank: number;
  readonly name: string;
}

/** Position of a blob's text in the file. */
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

/** Bytes to buffer before a write, and to read at a time. */
const blockSize = 256 * 1024;

/**
 * A catalog that is written in opm's order although its blobs arrive in another: a temporary file
 * holds their texts, and memory only their positions.
 */
export class SpooledCatalog implements Disposable {
  readonly #write: WriteCatalog;
  readonly #dir = mkdtempSync(join(tmpdir(), 'rukpak-render-'));
  readonly #file = openSync(join(this.#dir, 'blobs'), 'w+');
  readonly #places: Place[] = [];
  #byPackage: ReadonlyMap<string, readonly Place[]> | undefined;
  readonly #block = Buffer.allocUnsafeSlow(blockSize);
  /** Bytes that wait in the block, and bytes of the file. */
  #waiting = 0;
  #size = 0;

  constructor(write: WriteCatalog) {
    this.#write = write;
    // The open file needs no name: nothing stays, however the process ends.
    removeUnlessHeld(this.#dir);
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

  /** Packages in the order of output; the last is empty if any blob has no package. */
  packages(): readonly string[] {
    const names = new Set(this.#places.map((place) => place.package));
    const named = [...names].filter((name) => name !== '').toSorted(compareBytes);
    return names.has('') ? [...named, ''] : named;
  }

  /**
   * The text of all blobs, or of those of a package, in opm's order. Each piece is valid until the
   * next one is requested.
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

  /** Blobs that the writer omits, such as a channel without a package, get no place. */
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
    else {
      // The same bytes for ASCII, without a look at each character.
      const encoding = size === text.length ? 'latin1' : 'utf8';
      this.#waiting += this.#block.write(text, this.#waiting, encoding);
    }
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

/** NFS keeps the name of an open file, and so its directory. */
function removeUnlessHeld(dir: string): void {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch {
    // Removed when the file is closed.
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Joins adjacent ranges: catalogs are often written in opm's order. */
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

/** Blobs without a package come last, in the order of arrival. */
function byOrder(a: Order, b: Order): number {
  if (a.package === '' || b.package === '') {
    return Number(a.package === '') - Number(b.package === '');
  }
  return compareBytes(a.package, b.package) || a.rank - b.rank || compareBytes(a.name, b.name);
}
