import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import type { Source, SourceContext, SourceResult } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import { ImagePuller, type ImagePullerOptions } from './image-puller.ts';
import { readPullSecret } from './pull-secret.ts';

/** Content of an image in an OCI registry, pinned to its digest (spec section 3.1). */
export function createImageSource(options: ImagePullerOptions): Source {
  const puller = new ImagePuller(options);
  return { type: 'image', fetch: (source, context) => fetchImage(puller, source, context) };
}

async function fetchImage(
  puller: ImagePuller,
  { image }: BundleSource,
  { secrets, limits, signal }: SourceContext,
): Promise<SourceResult> {
  if (image === undefined) throw new TerminalError('bundle source image configuration is unset');
  const pullSecret = await readPullSecret(image.pullSecret, secrets, signal);
  const { files, pinnedRef } = await puller.pull(image.ref, { ...pullSecret, limits, signal });
  return { files, resolvedSource: { type: 'image', image: { ...image, ref: pinnedRef } } };
}
