import type { ImagePlace, ImageTarget, ManifestContent } from '../configuration/place.ts';
import type { TypedDescriptor } from '../manifest.ts';
import { manifestParts } from '../manifest-parts.ts';
import { HostLimits } from './host-limits.ts';
import { ImageCopier } from './image-copier.ts';
import { readWholeImage } from './whole-image.ts';

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

/** Maximum concurrent operations per host. */
const atOnce = 4;

/** Copies an image, an index with all its images, or an artifact: the same bytes, the same digests. */
export async function copyImage(copy: CopyImage): Promise<TypedDescriptor> {
  const { place, manifest, target, tag, mountFrom, signal } = copy;
  const image = await readWholeImage({ place, manifest, withAttached: false, signal });
  const copier = new ImageCopier({
    limits: new HostLimits(atOnce),
    onBytes: () => undefined,
    signal,
  });
  const to = { target, tag, host: target.name, repository: target.name };
  const host = mountFrom === undefined ? place.name : target.name;
  await copier.copy(image, { place, host, repository: mountFrom ?? place.name }, to);
  const { bytes, digest } = manifest;
  return { mediaType: manifestParts(manifest).mediaType, digest, size: bytes.byteLength };
}
