import type { BundleSource, ImageSource } from '../../../api/v1alpha1/bundle.ts';
import type { Source, SourceContext, SourceResult, SourceType } from '../../contracts/source.ts';
import { TerminalError } from '../../errors.ts';
import {
  type ImageReference,
  parseImageReference,
  readPullSecret,
  repositoryName,
} from '../../registry/index.ts';
import { ImagePuller, type ImagePullerOptions } from './image-puller.ts';

/** Sources of type image, pinned to the digest of the manifest. */
export const imageType: SourceType = {
  type: 'image',
  pin: {
    of: (source) => referenceOf(source)?.digest,
    at: pinnedTo,
    place: (source) => {
      const reference = referenceOf(source);
      return reference && repositoryName(reference);
    },
  },
  host: (source) => {
    const reference = referenceOf(source);
    return (reference && URL.parse(`https://${reference.domain}`)) ?? undefined;
  },
  secret: ({ image }) => image?.pullSecret,
  secretsListHosts: true,
  shareable: true,
};

function pinnedTo(source: BundleSource, digest: string): BundleSource | undefined {
  const reference = referenceOf(source);
  if (reference === undefined || !/^sha(?:256|512):[0-9a-f]{64,128}$/.test(digest))
    return undefined;
  return { ...source, image: { ...source.image, ref: `${repositoryName(reference)}@${digest}` } };
}

function referenceOf({ image }: BundleSource): ImageReference | undefined {
  try {
    return image && parseImageReference(image.ref);
  } catch {
    // The fetch reports the invalid reference.
    return undefined;
  }
}

/** Content of an image in an OCI registry. */
export function createImageSource(options: ImagePullerOptions): Source {
  const puller = new ImagePuller(options);
  const toldOf = new Set<string>();
  return {
    ...imageType,
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
