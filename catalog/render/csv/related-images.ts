import { compareBytes } from '../../../api/byte-order.ts';
import type { RelatedImage } from '../../blobs/index.ts';
import type { ServiceVersion } from './service-version.ts';

/**
 * Images that a bundle needs: those listed in its ClusterServiceVersion, the bundle's own, and
 * those of its deployments, sorted by reference.
 */
export function relatedImages(csv: ServiceVersion, bundleImage: string): readonly RelatedImage[] {
  const listed = csv.relatedImages();
  const known = new Set(listed.map(({ image }) => image));
  const own = bundleImage === '' || known.has(bundleImage) ? [] : [bundleImage];
  const deployed = [...csv.deploymentImages()].filter((image) => !known.has(image));
  const added = [...own, ...deployed].map((image) => ({ name: '', image }));
  return inOrder([...listed, ...added]);
}

export function inOrder(images: readonly RelatedImage[]): readonly RelatedImage[] {
  const isSorted = images.every(
    (each, index) => index === 0 || byImage(images[index - 1], each) <= 0,
  );
  return isSorted ? images : images.toSorted(byImage);
}

function byImage(a: RelatedImage | undefined, b: RelatedImage): number {
  return compareBytes(a?.image ?? '', b.image);
}
