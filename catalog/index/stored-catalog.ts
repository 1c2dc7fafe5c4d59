import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '../../api/json.ts';
import { quoted, TerminalError } from '../../core/errors.ts';
import { jsonText } from '../blobs/index.ts';
import { type ByteRange, CatalogIndex } from './catalog-index.ts';

export interface BlobToStore {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
  readonly value: JsonObject;
}

export interface StoreOptions {
  /** Maximum bytes of all lines (default 4 GiB). */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const linesFile = 'all.jsonl';
const indexFile = 'index.json';
const keptCatalog = z.object({ digest: z.string(), index: z.unknown() });

const mebibyte = 1024 * 1024;
/** Maximum bytes of one line. A document with aliases has a longer text as JSON than in its file. */
const maxLineBytes = 64 * mebibyte;
/** As many as the files of an image may have. */
const defaultMaxBytes = 4096 * mebibyte;

/** Bytes to gather before a write, and maximum bytes of one read. */
const pieceSize = 64 * 1024;
/** Maximum bytes of adjacent blobs in one read. */
const runSize = 1024 * 1024;

/**
 * Writes blobs into a directory as they arrive: a file of JSON lines, and its index. Holds one blob
 * in memory at a time, and the offsets of all.
 * @throws TerminalError for a line of more than 64 MiB, or more than `maxBytes`
 */
export async function storeCatalog(
  directory: string,
  blobs: AsyncIterable<BlobToStore>,
  { signal, maxBytes = defaultMaxBytes }: StoreOptions = {},
): Promise<void> {
  const index = new CatalogIndex();
  const hash = createHash('sha256');
  await using file = await open(join(directory, linesFile), 'w');
  let gathered = '';
  async function writeGathered(): Promise<void> {
    const bytes = Buffer.from(gathered);
    gathered = '';
    hash.update(bytes);
    await file.writeFile(bytes);
  }
  for await (const blob of blobs) {
    signal?.throwIfAborted();
    const { line, bytes } = lineOf(blob);
    if (index.size + bytes > maxBytes) {
      throw new TerminalError(
        `the blobs of the catalog have more than the limit of ${maxBytes} bytes as JSON`,
      );
    }
    index.add(blob, bytes);
    gathered += line;
    if (gathered.length >= pieceSize) await writeGathered();
  }
  await writeGathered();
  const kept = { digest: hash.digest('hex'), index };
  await writeFile(join(directory, indexFile), JSON.stringify(kept));
}

/** @throws TerminalError for a line of more than 64 MiB */
function lineOf(blob: BlobToStore): { readonly line: string; readonly bytes: number } {
  try {
    const line = `${jsonText(blob.value)}\n`;
    const bytes = Buffer.byteLength(line);
    if (bytes <= maxLineBytes) return { line, bytes };
  } catch (error) {
    // V8's answer to a text of more than 512 MiB.
    if (!(error instanceof RangeError)) throw error;
  }
  const { schema, package: owner, name } = blob;
  const of = owner === '' ? '' : ` of package ${quoted(owner)}`;
  throw new TerminalError(
    `blob ${quoted(name)} (${schema}${of}) has more than the limit of ${maxLineBytes} bytes as JSON`,
  );
}

/**
 * A catalog in a directory that `storeCatalog` has written. Reads from disk only the requested
 * blobs.
 */
export class StoredCatalog implements AsyncDisposable {
  /** SHA-256 of the file of JSON lines, in hexadecimal. */
  readonly digest: string;
  /** Modification time of that file. */
  readonly modified: Date;
  readonly index: CatalogIndex;
  readonly #file: FileHandle;

  private constructor(file: FileHandle, about: { digest: string; index: unknown; modified: Date }) {
    this.#file = file;
    this.digest = about.digest;
    this.modified = about.modified;
    this.index = CatalogIndex.read(about.index);
  }

  /** @throws Error for a directory without a complete catalog */
  static async open(directory: string): Promise<StoredCatalog> {
    const kept = keptCatalog.parse(JSON.parse(await readFile(join(directory, indexFile), 'utf8')));
    const lines = join(directory, linesFile);
    const { size, mtime } = await stat(lines);
    const file = await open(lines);
    try {
      const catalog = new StoredCatalog(file, { ...kept, modified: mtime });
      if (catalog.index.size !== size) throw new Error(`${lines} and its index differ in size`);
      return catalog;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Bytes of all JSON lines. */
  get size(): number {
    return this.index.size;
  }

  /** Whether all lines are as they were written. Reads the whole file. */
  async isWhole(): Promise<boolean> {
    const hash = createHash('sha256');
    for await (const piece of this.read([{ start: 0, end: this.size }])) hash.update(piece);
    return hash.digest('hex') === this.digest;
  }

  /**
   * The bytes of ranges, in pieces of at most 64 KiB. Reads each piece when the caller takes it.
   */
  async *read(ranges: readonly ByteRange[]): AsyncGenerator<Uint8Array> {
    for (const { start, end } of ranges) {
      for (let at = start; at < end; at += pieceSize) {
        yield await this.#piece(at, Math.min(end, at + pieceSize));
      }
    }
  }

  /** Reads the bytes of ranges, one after the other, into a buffer that has room for them. */
  async readInto(buffer: Buffer, ranges: readonly ByteRange[]): Promise<void> {
    let at = 0;
    const reads = ranges.map(async ({ start, end }) => {
      const part = buffer.subarray(at, at + end - start);
      at += end - start;
      await this.#read(part, start);
    });
    await Promise.all(reads);
  }

  /** The blobs of these numbers, in this order. Reads adjacent blobs at once. */
  async *blobs(numbers: readonly number[]): AsyncGenerator<BlobToStore> {
    for (const run of this.#runs(numbers)) {
      const { start } = this.index.range(run[0] ?? 0);
      const bytes = await this.#piece(start, this.index.range(run.at(-1) ?? 0).end);
      for (const number of run) {
        const range = this.index.range(number);
        const text = bytes.toString('utf8', range.start - start, range.end - start);
        yield { ...this.index.blob(number), value: JSON.parse(text) as JsonObject };
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }

  /** Runs of adjacent blobs of up to `runSize` bytes; a larger blob is a run of its own. */
  *#runs(numbers: readonly number[]): Generator<readonly number[]> {
    let run: number[] = [];
    for (const number of numbers) {
      const first = run[0];
      const isNext = first !== undefined && number === first + run.length;
      const size = this.index.range(number).end - this.index.range(first ?? number).start;
      if (run.length > 0 && (!isNext || size > runSize)) {
        yield run;
        run = [];
      }
      run.push(number);
    }
    if (run.length > 0) yield run;
  }

  async #piece(start: number, end: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(end - start);
    await this.#read(bytes, start);
    return bytes;
  }

  async #read(bytes: Buffer, start: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await this.#file.read(bytes, done, bytes.length - done, start + done);
      if (bytesRead === 0) throw new Error('the stored catalog was cut while it is served');
      done += bytesRead;
    }
  }
}
