import { Readable } from 'node:stream';
import type { ContentMemory } from '../contracts/source.ts';

/** Bytes as they arrive: a Node stream, a fetch body, a generator. */
export type ByteStream = AsyncIterable<Uint8Array>;

/**
 * Bytes to reserve at once, so that a reader that waits for a server reserves little more than has
 * arrived.
 */
const memoryStep = 256 * 1024;

/**
 * Reads a stream by numbers of bytes, and buffers at most one chunk. Errors of the stream pass
 * through; aborting the signal rejects with its reason, even while the stream hangs.
 */
export class ByteReader {
  readonly #stream: ByteStream;
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #signal: AbortSignal;
  #chunk: Uint8Array = new Uint8Array();
  #consumed = 0;

  constructor(stream: ByteStream, signal: AbortSignal) {
    this.#stream = stream;
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /** Number of bytes taken from the stream so far. */
  get consumed(): number {
    return this.#consumed;
  }

  /** The next bytes, at least one and at most `max`; undefined at the end of the stream. */
  async next(max = Number.POSITIVE_INFINITY): Promise<Uint8Array | undefined> {
    while (this.#chunk.byteLength === 0) {
      const result = await abortable(() => this.#iterator.next(), this.#signal);
      if (result.done === true) return undefined;
      this.#chunk = result.value;
    }
    const taken = this.#chunk.subarray(0, max);
    this.#chunk = this.#chunk.subarray(taken.byteLength);
    this.#consumed += taken.byteLength;
    return taken;
  }

  /** Exactly `count` bytes, fewer only at the end of the stream; reserves their memory first. */
  async read(count: number, memory?: ContentMemory): Promise<Uint8Array> {
    const bytes = new Uint8Array(count);
    let length = 0;
    let taken = 0;
    while (length < count) {
      if (length === taken) {
        const step = Math.min(memoryStep, count - taken);
        await memory?.take(step);
        taken += step;
      }
      const part = await this.next(taken - length);
      if (part === undefined) return bytes.subarray(0, length);
      bytes.set(part, length);
      length += part.byteLength;
    }
    return bytes;
  }

  /** Fills the caller's buffer, all of it unless the stream ends; returns what was filled. */
  async readInto(buffer: Uint8Array): Promise<Uint8Array> {
    let length = 0;
    while (length < buffer.byteLength) {
      const part = await this.next(buffer.byteLength - length);
      if (part === undefined) break;
      buffer.set(part, length);
      length += part.byteLength;
    }
    return buffer.subarray(0, length);
  }

  /** Skips `count` bytes; false when the stream ends before. */
  async skip(count: number): Promise<boolean> {
    let left = count;
    while (left > 0) {
      const part = await this.next(left);
      if (part === undefined) return false;
      left -= part.byteLength;
    }
    return true;
  }

  /** Releases the stream and discards its rest. */
  release(): void {
    if (this.#stream instanceof Readable) this.#stream.destroy();
    // Not awaited: a generator that waits for its peer ends only when the peer answers.
    this.#iterator.return?.().catch(() => undefined);
  }
}

async function abortable<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
