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
