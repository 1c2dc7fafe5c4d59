import { pipeline, Readable } from 'node:stream';
import {
  constants,
  createGunzip,
  createZstdDecompress,
  type Gunzip,
  type ZstdDecompress,
} from 'node:zlib';
import type { ContentLimits } from '../contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { ByteReader, type ByteStream } from './byte-reader.ts';

export interface DecompressOptions {
  /** `detect` decides by the first bytes, and passes on data that is neither gzip nor zstd. */
  readonly compression: 'gzip' | 'zstd' | 'none' | 'detect';
  readonly limits: Pick<ContentLimits, 'maxCompressionRatio'>;
  readonly signal: AbortSignal;
}

const mebibyte = 1024 * 1024;
const gzipHeaderLength = 10;
const gzipMagic = Buffer.from([0x1f, 0x8b, 0x08]);
/** Go's messages for zlib's. */
const goMessages: Readonly<Record<string, string>> = {
  'unexpected end of file': 'unexpected EOF',
  'incorrect header check': 'gzip: invalid header',
  'incorrect data check': 'gzip: invalid checksum',
  'incorrect length check': 'gzip: invalid checksum',
};
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/**
 * The unpacked bytes, as they arrive. A malformed or truncated body, or one that unpacks to more
 * than the allowed multiple, ends in a TerminalError with Go's words; errors of the stream itself
 * pass through.
 */
export async function* decompressed(
  stream: ByteStream,
  options: DecompressOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new ByteReader(stream, options.signal);
  try {
    const head = await reader.read(gzipHeaderLength);
    const input = rejoined(head, reader);
    const compression = compressionOf(head, options.compression);
    if (compression === 'none') yield* input;
    else yield* unpacked(input, { compression, limits: options.limits });
  } finally {
    reader.release();
  }
}

function compressionOf(
  head: Uint8Array,
  asked: DecompressOptions['compression'],
): 'gzip' | 'zstd' | 'none' {
  if (asked === 'detect') {
    if (startsWith(head, gzipMagic)) return 'gzip';
    return startsWith(head, zstdMagic) ? 'zstd' : 'none';
  }
  if (asked === 'gzip') {
    if (head.byteLength < gzipHeaderLength) throw new TerminalError('unexpected EOF');
    if (!startsWith(head, gzipMagic)) throw new TerminalError('gzip: invalid header');
  }
  if (asked === 'zstd') {
    if (head.byteLength < zstdMagic.byteLength) throw new TerminalError('unexpected EOF');
    if (!startsWith(head, zstdMagic)) throw new TerminalError('zstd: invalid header');
  }
  return asked;
}

function startsWith(bytes: Uint8Array, magic: Buffer): boolean {
  return magic.equals(bytes.subarray(0, magic.byteLength));
}

async function* rejoined(head: Uint8Array, reader: ByteReader): AsyncGenerator<Uint8Array> {
  if (head.byteLength > 0) yield head;
  for (let part = await reader.next(); part !== undefined; part = await reader.next()) yield part;
}

async function* unpacked(
  input: AsyncGenerator<Uint8Array>,
  options: { compression: 'gzip' | 'zstd'; limits: Pick<ContentLimits, 'maxCompressionRatio'> },
): AsyncGenerator<Uint8Array> {
  const { compression, limits } = options;
  const engine = compression === 'gzip' ? gunzip(input) : new ZstdFrames(input);
  let size = 0;
  try {
    for await (const chunk of engine as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > mebibyte && size > engine.bytesWritten * limits.maxCompressionRatio) {
        throw new TerminalError(
          `content unpacks to more than ${limits.maxCompressionRatio} times its compressed size (--max-content-compression-ratio)`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    throw asTerminal(error, compression);
  } finally {
    engine.destroy();
  }
}

function gunzip(input: AsyncGenerator<Uint8Array>): Gunzip {
  const engine = createGunzip({ chunkSize: 65_536 });
  // The reader receives every error; the callback only prevents a second throw.
  pipeline(Readable.from(input), engine, () => undefined);
  return engine;
}

/** Errors of the decoder are the content's fault; all others pass through. */
function asTerminal(error: unknown, compression: 'gzip' | 'zstd'): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!code.startsWith('Z_') && !code.startsWith('ZSTD_')) return error;
  const message = errorMessage(error);
  return new TerminalError(goMessages[message] ?? `${compression}: ${message}`, { cause: error });
}

/**
 * 8 MiB is the window that every decoder must support (RFC 8878); a larger one only costs memory.
 */
const maxWindowLog = 23;
const chunkSize = 65_536;

/**
 * Unpacks zstd data with any number of frames, such as zstd:chunked layers with thousands. Node's
 * own decoder stops without an error after the first frame of a chunk.
 */
export class ZstdFrames implements AsyncIterable<Uint8Array> {
  readonly #input: AsyncGenerator<Uint8Array>;
  /** Data passed to the decoder that it may not have read yet. */
  #given: Uint8Array[] = [];
  #givenBytes = 0;
  #decoder: ZstdDecompress | undefined;
  #finishedBytes = 0;

  constructor(input: AsyncGenerator<Uint8Array>) {
    this.#input = input;
  }

  /** Number of compressed bytes unpacked so far. */
  get bytesWritten(): number {
    return this.#finishedBytes + (this.#decoder?.bytesWritten ?? 0);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let rest: readonly Uint8Array[] = [];
    do {
      const decoder = createZstdDecompress({
        chunkSize,
        params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog },
      });
      this.#decoder = decoder;
      const feed = this.#feed(rest, decoder);
      // The loop below receives every error; the callback only prevents a second throw.
      pipeline(Readable.from(feed), decoder, () => undefined);
      yield* decoder as AsyncIterable<Uint8Array>;
      // It may still be reading a chunk that belongs to the next frame.
      await feed.return(undefined);
      rest = this.#left(decoder);
    } while (rest.length > 0);
  }

  destroy(): void {
    this.#decoder?.destroy();
  }

  async *#feed(
    rest: readonly Uint8Array[],
    decoder: ZstdDecompress,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    this.#given = [...rest];
    this.#givenBytes = rest.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    yield* rest;
    for (;;) {
      const next = await this.#input.next();
      if (next.done === true) return;
      this.#forget(decoder.bytesWritten);
      this.#given.push(next.value);
      this.#givenBytes += next.value.byteLength;
      yield next.value;
    }
  }

  #forget(taken: number): void {
    let start = this.#givenBytes - this.#given.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    while (this.#given[0] !== undefined && start + this.#given[0].byteLength <= taken) {
      start += this.#given.shift()?.byteLength ?? 0;
    }
  }

  /** Data that the decoder did not use, which belongs to the next frame. */
  #left(decoder: ZstdDecompress): Uint8Array[] {
    this.#forget(decoder.bytesWritten);
    const given = this.#given.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    const left = this.#givenBytes - decoder.bytesWritten;
    this.#finishedBytes += decoder.bytesWritten;
    this.#decoder = undefined;
    const [first, ...others] = this.#given;
    return first === undefined ? [] : [first.subarray(given - left), ...others];
  }
}
