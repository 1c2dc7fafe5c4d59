import type { ImagePlace } from '../configuration/place.ts';
import type { Descriptor } from '../manifest.ts';
import { MismatchError } from '../registry-errors.ts';

/**
 * A blob's bytes, the last of them only after all are verified: a reader that stops early has no
 * guarantee.
 * @throws MismatchError that names the place
 */
export async function* blobBytes(
  place: ImagePlace,
  descriptor: Descriptor,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const blob = place.blob(descriptor, signal);
  try {
    let last: Uint8Array | undefined;
    for await (const chunk of blob) {
      if (last !== undefined) yield last;
      last = chunk;
    }
    await blob.verify();
    if (last !== undefined) yield last;
  } catch (error) {
    if (!(error instanceof MismatchError)) throw error;
    throw new MismatchError(`${place.name}: ${error.message}`, { cause: error });
  } finally {
    blob.close();
  }
}

export interface CountOptions {
  /** Receives the number of bytes as they arrive; `sent` bytes came over the network. */
  readonly onBytes: (bytes: number, sent: boolean) => void;
  readonly signal: AbortSignal;
}

/** A blob's bytes; counts each byte once, even if it is read again. */
export class CountedBlob {
  bytes = 0;
  readonly #descriptor: Descriptor;
  readonly #place: ImagePlace;
  readonly #options: CountOptions;

  constructor(descriptor: Descriptor, place: ImagePlace, options: CountOptions) {
    this.#descriptor = descriptor;
    this.#place = place;
    this.#options = options;
  }

  async *open(): AsyncGenerator<Uint8Array> {
    const { onBytes, signal } = this.#options;
    let offset = 0;
    for await (const chunk of blobBytes(this.#place, this.#descriptor, signal)) {
      offset += chunk.byteLength;
      const fresh = Math.max(0, offset - this.bytes);
      this.bytes += fresh;
      if (fresh > 0) onBytes(fresh, true);
      yield chunk;
    }
  }
}
