import type { Descriptor } from '../manifest.ts';
import type { ImagePlace } from '../place.ts';

/** A blob's bytes; whoever reads them to their end knows that they are the right ones. */
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
