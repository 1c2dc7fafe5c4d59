import {
  copyImage,
  DeniedError,
  type ImageReference,
  repositoryName,
} from '../../../core/registry/index.ts';
import { type ReleaseRegistries, releaseRegistries } from './registry.ts';

export interface PushOptions extends ReleaseRegistries {
  readonly signal: AbortSignal;
}

/**
 * Pushes the image of an OCI layout under a tag; skips blobs that the registry already has.
 * @throws Error with the registry's answer
 */
export async function pushLayout(
  folder: string,
  target: ImageReference & { readonly tag: string },
  options: PushOptions,
): Promise<void> {
  const { signal } = options;
  const access = await releaseRegistries(options);
  const { place, manifest } = await access.open({ kind: 'layout', path: folder }, signal);
  try {
    const { tag } = target;
    await copyImage({ place, manifest, target: access.repositoryTarget(target), tag, signal });
  } catch (error) {
    if (!(error instanceof DeniedError)) throw error;
    throw new Error(
      `cannot push to ${repositoryName(target)}: ${error.message}; log in with "docker login ${target.domain}", without a credential helper`,
      { cause: error },
    );
  } finally {
    await place.close();
  }
}
