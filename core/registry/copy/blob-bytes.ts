import type { ImagePlace } from '../configuration/place.ts';
import type { Descriptor } from '../manifest.ts';

/** A blob's bytes, verified at their end: a reader that stops early has no guarantee. */
export async function* blobBytes(
  place: ImagePlace,
  descriptor: Descriptor,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const blob = place.blob(descriptor, signal);
  try {
    yield* blob;
    await blob.verify();
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
