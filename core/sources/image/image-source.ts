import type { ImageSource } from '../../../api/v1alpha1/bundle.ts';
import type { Source, SourceContext, SourceResult } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import { ImagePuller, type ImagePullerOptions } from './image-puller.ts';
import { readPullSecret } from './pull-secret.ts';

/** Content of an image in an OCI registry, pinned to its digest. */
export function createImageSource(options: ImagePullerOptions): Source {
  const puller = new ImagePuller(options);
  const toldOf = new Set<string>();
  return {
    type: 'image',
    fetch: async ({ image }, context) => {
      if (image === undefined) {
        throw new TerminalError('bundle source image configuration is unset');
      }
      return await fetchImage(image, context, { puller, toldOf });
    },
  };
}

async function fetchImage(
  image: ImageSource,
  { secrets, limits, signal, memory, logger }: SourceContext,
  { puller, toldOf }: { readonly puller: ImagePuller; readonly toldOf: Set<string> },
): Promise<SourceResult> {
  const pullSecret = await readPullSecret(image.pullSecret, secrets, signal);
  const { shortcoming } = pullSecret.keychain;
  const { pullSecret: name = '' } = image;
  if (shortcoming !== undefined && !toldOf.has(name)) {
    toldOf.add(name);
    logger.info({ pullSecret: name }, shortcoming);
  }
  const { files, pinnedRef } = await puller.pull(image.ref, {
    ...pullSecret,
    limits,
    signal,
    memory,
  });
  return { files, resolvedSource: { type: 'image', image: { ...image, ref: pinnedRef } } };
}
