import { createHash } from 'node:crypto';
import type { ByteStream } from '../../content/index.ts';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import { TerminalError } from '../../errors.ts';
import { bodyError } from './body-error.ts';

interface MeasuredBodyOptions {
  readonly url: URL;
  readonly limits: Pick<ContentLimits, 'maxBytes'>;
}

/** Headers and padding, for content that compresses badly. */
const overhead = 1024 * 1024;

/** A response's body that knows its digest, and has no more bytes than content may have. */
export class MeasuredBody implements ByteStream {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #options: MeasuredBodyOptions;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(body: ByteStream, options: MeasuredBodyOptions) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#options = options;
  }

  /** Whoever stops early leaves the rest to `checksum`: there is no `return` that would close it. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  /** `sha256:<hex>` of the whole body, once everybody else has read what they need. */
  async checksum(): Promise<string> {
    while ((await this.#next()).done !== true);
    return `sha256:${this.#hash.digest('hex')}`;
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    const result = await this.#read();
    if (result.done === true) return result;
    const { maxBytes } = this.#options.limits;
    this.#bytes += result.value.byteLength;
    if (this.#bytes > 2 * maxBytes + overhead) {
      throw new TerminalError(
        `GET ${this.#options.url.href}: the archive is larger than content of ${maxBytes} bytes can be (--max-content-bytes)`,
      );
    }
    this.#hash.update(result.value);
    return result;
  }

  async #read(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#chunks.next();
    } catch (error) {
      throw bodyError(this.#options.url, error);
    }
  }
}
