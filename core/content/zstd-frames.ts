import { pipeline, Readable } from 'node:stream';
import { constants, createZstdDecompress, type ZstdDecompress } from 'node:zlib';

/** 8 MiB is the window every decoder must bear (RFC 8878); more is memory for nothing. */
const maxWindowLog = 23;
const chunkSize = 65_536;

/**
 * Unpacks zstd data of any number of frames, as zstd:chunked layers have them by the thousand.
 * Node's own decoder ends without an error after the first frame of a chunk.
 */
export class ZstdFrames implements AsyncIterable<Uint8Array> {
  readonly #input: AsyncGenerator<Uint8Array>;
  /** What the decoder was given and may not have taken yet. */
  #given: Uint8Array[] = [];
  #givenBytes = 0;
  #decoder: ZstdDecompress | undefined;
  #finishedBytes = 0;

  constructor(input: AsyncGenerator<Uint8Array>) {
    this.#input = input;
  }

  /** Compressed bytes that were unpacked so far. */
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
      // The loop below receives every error; the callback only keeps it from being thrown twice.
      pipeline(Readable.from(feed), decoder, () => undefined);
      yield* decoder as AsyncIterable<Uint8Array>;
      // It may still be taking a chunk that belongs to the next frame.
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

  /** What the decoder left over, which is the next frame's. */
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
