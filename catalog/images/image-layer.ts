import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Gzip } from 'fflate';
import { tarEnd, tarHeader, tarPadding } from '../../core/content/index.ts';
import { TerminalError } from '../../core/errors.ts';

/** A directory of this machine, and its path in an image. */
export interface LayerDirectory {
  readonly from: string;
  /** Without a slash at either end. */
  readonly to: string;
}

/** A compressed layer in a file. */
export interface ImageLayer {
  readonly path: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
  /** Digest of the uncompressed archive. */
  readonly diffId: string;
}

interface LayerEntry {
  /** Path in the image. */
  readonly path: string;
  /** File on this machine; undefined for a directory. */
  readonly source?: string;
}

/** Constant, because the compressor's output depends on the size of its input blocks. */
const blockSize = 1024 * 1024;

/**
 * Writes a layer of directories into a file. Equal files make equal bytes on every machine: entries
 * are sorted, belong to root and have no times; files have mode 0644, directories 0755; and the
 * compressor is JavaScript.
 * @throws TerminalError for an entry that is neither a file nor a directory
 */
export async function writeLayer(
  directories: readonly LayerDirectory[],
  path: string,
  signal: AbortSignal,
): Promise<ImageLayer> {
  const entries = new Map<string, LayerEntry>();
  for (const directory of directories) {
    for (const entry of await entriesOf(directory)) entries.set(entry.path, entry);
  }
  const sorted = [...entries.values()].toSorted((a, b) => byBytes(a.path, b.path));
  const file = await open(path, 'wx');
  try {
    const output = new LayerOutput(file);
    for await (const block of blocks(archive(sorted))) {
      signal.throwIfAborted();
      await output.add(block);
    }
    return { path, ...(await output.end()) };
  } finally {
    await file.close();
  }
}

async function entriesOf({ from, to }: LayerDirectory): Promise<readonly LayerEntry[]> {
  const parts = to.split('/');
  const above = parts.map((_part, index) => ({ path: parts.slice(0, index + 1).join('/') }));
  return [...above, ...(await below(from, to))];
}

async function below(folder: string, prefix: string): Promise<readonly LayerEntry[]> {
  const found: LayerEntry[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [source, path] = [join(folder, entry.name), `${prefix}/${entry.name}`];
    if (entry.isDirectory()) found.push({ path }, ...(await below(source, path)));
    else if (entry.isFile()) found.push({ path, source });
    else {
      throw new TerminalError(
        `${source} is neither a file nor a directory: replace the link or device by what it stands for`,
      );
    }
  }
  return found;
}

async function* archive(entries: readonly LayerEntry[]): AsyncGenerator<Uint8Array> {
  for (const { path, source } of entries) {
    if (source === undefined) {
      yield* tarHeader({ path: `${path}/` });
      continue;
    }
    const { size } = await stat(source);
    yield* tarHeader({ path, size });
    let length = 0;
    for await (const chunk of createReadStream(source) as AsyncIterable<Uint8Array>) {
      length += chunk.byteLength;
      yield chunk;
    }
    if (length !== size) throw new TerminalError(`${source} changed while it was read`);
    yield tarPadding(size);
  }
  yield tarEnd;
}

/** The same bytes in blocks of `blockSize`; the last one may be smaller. */
async function* blocks(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = Buffer.allocUnsafe(blockSize);
  let length = 0;
  for await (const part of parts) {
    for (let start = 0; start < part.byteLength; ) {
      const taken = part.subarray(start, start + blockSize - length);
      block.set(taken, length);
      start += taken.byteLength;
      length += taken.byteLength;
      if (length < blockSize) continue;
      yield block;
      block = Buffer.allocUnsafe(blockSize);
      length = 0;
    }
  }
  if (length > 0) yield block.subarray(0, length);
}

/** Compresses blocks into a file, and computes size and digests. */
class LayerOutput {
  readonly #file: FileHandle;
  readonly #gzip = new Gzip({ level: 6, mtime: 0 });
  readonly #digest = createHash('sha256');
  readonly #diffId = createHash('sha256');
  #ready: Uint8Array[] = [];
  #size = 0;

  constructor(file: FileHandle) {
    this.#file = file;
    this.#gzip.ondata = (chunk) => {
      this.#ready.push(chunk);
    };
  }

  async add(block: Uint8Array, isLast = false): Promise<void> {
    this.#diffId.update(block);
    this.#gzip.push(block, isLast);
    for (const chunk of this.#ready) {
      this.#digest.update(chunk);
      this.#size += chunk.byteLength;
      // Unlike `write`, it fails where a full disk takes only a part of the chunk.
      await this.#file.writeFile(chunk);
    }
    this.#ready = [];
  }

  async end(): Promise<Omit<ImageLayer, 'path'>> {
    await this.add(new Uint8Array(), true);
    return {
      digest: `sha256:${this.#digest.digest('hex')}`,
      size: this.#size,
      diffId: `sha256:${this.#diffId.digest('hex')}`,
    };
  }
}

/** Byte order, which no locale changes. A directory comes before its content. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
