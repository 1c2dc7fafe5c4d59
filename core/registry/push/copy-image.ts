import type { Descriptor, TypedDescriptor } from '../manifest.ts';
import { manifestParts } from '../manifest-parts.ts';
import type { ImagePlace, ImageTarget, ManifestContent } from '../place.ts';

export interface CopyImage {
  readonly place: ImagePlace;
  /** Of the image, index or artifact. */
  readonly manifest: ManifestContent;
  readonly target: ImageTarget;
  readonly tag?: string | undefined;
  /** Path of a repository of the target's registry that may have the blobs. */
  readonly mountFrom?: string | undefined;
  readonly signal: AbortSignal;
}

/** Indexes in indexes. */
const maxDepth = 4;

/** Copies an image, an index with all its images, or an artifact: the same bytes, the same digests. */
export async function copyImage(copy: CopyImage): Promise<TypedDescriptor> {
  return await copyManifest(copy, copy.manifest, 0);
}

async function copyManifest(
  copy: CopyImage,
  manifest: ManifestContent,
  depth: number,
): Promise<TypedDescriptor> {
  const { place, target, tag, mountFrom, signal } = copy;
  const { manifests, blobs, mediaType } = manifestParts(manifest);
  if (depth > maxDepth) throw new Error('image indexes are nested too deeply');
  for (const { digest } of manifests) {
    await copyManifest(copy, await place.manifest(digest, signal), depth + 1);
  }
  for (const descriptor of blobs) {
    const open = () => blobBytes(place, descriptor, signal);
    await target.pushBlob({ descriptor, open, mountFrom }, signal);
  }
  const isPart = depth > 0;
  const { bytes } = manifest;
  return await target.pushManifest(
    { bytes, mediaType, tag: isPart ? undefined : tag, isPart },
    signal,
  );
}

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
