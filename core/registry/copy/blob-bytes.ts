import type { Descriptor } from '../manifest.ts';
import type { ImagePlace } from '../place.ts';

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
