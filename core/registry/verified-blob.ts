import type { Hash } from 'node:crypto';
import { TerminalError } from '../errors.ts';
import { digestHash } from './digest.ts';
import type { Descriptor } from './manifest.ts';

/**
 * A blob on its way, hashed and counted as it passes. Readers may stop early, for instance at the
 * end of an archive; only `verify` says that it was what it should be.
 */
export class VerifiedBlob implements AsyncIterable<Uint8Array> {
  readonly #bytes: AsyncGenerator<Uint8Array>;
  readonly #descriptor: Descriptor;
  readonly #hash: Hash;
  #size = 0;

  constructor(bytes: AsyncGenerator<Uint8Array>, descriptor: Descriptor) {
    this.#bytes = bytes;
    this.#descriptor = descriptor;
    this.#hash = digestHash(descriptor.digest);
  }

  /** Has no `return`: what a reader leaves over is still needed for the digest. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  /** Reads what is left and checks size and digest; throws a TerminalError where they differ. */
  async verify(): Promise<void> {
    while ((await this.#next()).done !== true);
    const { digest, size } = this.#descriptor;
    if (this.#size !== size) throw this.#wrongSize(`${this.#size} bytes`);
    const actual = `${digest.slice(0, digest.indexOf(':'))}:${this.#hash.copy().digest('hex')}`;
    if (actual !== digest) throw new TerminalError(`blob ${digest} has the digest ${actual}`);
  }

  /** Gives up on what is left. */
  close(): void {
    // Not awaited: it ends only when the server sends something, or the request is aborted.
    this.#bytes.return(undefined).catch(() => undefined);
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    const result = await this.#bytes.next();
    if (result.done === true) return result;
    this.#size += result.value.byteLength;
    if (this.#size > this.#descriptor.size) throw this.#wrongSize('more bytes');
    this.#hash.update(result.value);
    return result;
  }

  #wrongSize(actual: string): TerminalError {
    const { digest, size } = this.#descriptor;
    return new TerminalError(
      `blob ${digest} has ${actual} instead of the ${size} that its manifest names`,
    );
  }
}
