import type { Hash } from 'node:crypto';
import { TerminalError } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { TransportResponse } from './http/response.ts';
import type { Descriptor } from './manifest.ts';
import { digestHash } from './reference.ts';
import {
  connectionError,
  isConnectionLost,
  MismatchError,
  UnavailableError,
} from './registry-errors.ts';

/**
 * A blob that is hashed and counted while it streams. Readers may stop early, for instance at the
 * end of an archive; only `verify` confirms size and digest.
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

  /** Has no `return`: `verify` needs the bytes that a reader has not read. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  /**
   * Reads the rest and checks size and digest.
   * @throws MismatchError
   */
  async verify(): Promise<void> {
    while ((await this.#next()).done !== true);
    const { digest, size } = this.#descriptor;
    if (this.#size !== size) throw this.#wrongSize(`${this.#size} bytes`);
    const actual = `${digest.slice(0, digest.indexOf(':'))}:${this.#hash.copy().digest('hex')}`;
    if (actual !== digest) throw new MismatchError(`blob ${digest} has the digest ${actual}`);
  }

  /**
   * The reason why its content could not be read: only verified bytes are to blame. Reads the rest.
   */
  async reasonOf(error: unknown): Promise<unknown> {
    if (!(error instanceof TerminalError)) return error;
    try {
      await this.verify();
      return error;
    } catch (reason) {
      return reason;
    }
  }

  /** Stops reading. */
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

  #wrongSize(actual: string): MismatchError {
    const { digest, size } = this.#descriptor;
    return new MismatchError(
      `blob ${digest} has ${actual} instead of the ${size} that its manifest names`,
    );
  }
}

interface DownloadOptions {
  /** Expected bytes. */
  readonly size: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Maximum consecutive resumes without a new byte. */
const maxResumes = 3;
const resumeDelay = 200;

/**
 * Bytes of a body; resumes after a lost connection. The number of resumes has no limit while each
 * connection delivers new bytes: only the time limit ends such a download.
 */
export async function* resumedDownload(
  open: (offset: number) => Promise<TransportResponse>,
  { size, clock, signal }: DownloadOptions,
): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (let resumes = 0; ; resumes += 1) {
    const response = await open(offset);
    // A server without range support sends the whole body again.
    let skip = response.status === 206 ? 0 : offset;
    try {
      for await (const chunk of watched(response, clock)) {
        const fresh = chunk.subarray(Math.min(skip, chunk.byteLength));
        skip -= chunk.byteLength - fresh.byteLength;
        offset += fresh.byteLength;
        if (fresh.byteLength === 0) continue;
        resumes = 0;
        yield fresh;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      // All bytes have arrived; only the end of the body is missing.
      if (offset >= size && isConnectionLost(error)) return;
      if (!isConnectionLost(error) || resumes === maxResumes) {
        throw connectionError(response.url.host, error);
      }
    }
    await clock.sleep(resumeDelay * 2 ** resumes, signal);
  }
}

/** Milliseconds. */
const span = 60_000;
const minimumBytes = 60 * 1024;

/**
 * Bytes of a body, at 1 KiB per second or more: a slower server would use up all the time of a
 * fetch, and no other mirror would be tried. Only the time spent waiting for the server counts.
 * @throws UnavailableError below that rate
 */
export async function* watched(
  { body, url }: TransportResponse,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  let waited = 0;
  let bytes = 0;
  let asked = clock.monotonic();
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    waited += clock.monotonic() - asked;
    bytes += chunk.byteLength;
    if (waited >= span) {
      if (bytes < minimumBytes) {
        throw new UnavailableError(`registry ${url.host} sends less than 1 KiB a second`);
      }
      waited = 0;
      bytes = 0;
    }
    yield chunk;
    asked = clock.monotonic();
  }
}
