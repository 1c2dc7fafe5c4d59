import type { ImagePlace, ManifestContent } from './configuration/place.ts';
import { type TypedDescriptor } from './manifest.ts';
import { manifestParts } from './manifest-parts.ts';
import { mediaTypes } from './media-types.ts';
import { digestOf } from './reference.ts';

/** Limits of a list in pages: users name registries, and core has the list in memory. */
export const referrerLimits = { pages: 100, mebibytes: 16 } as const;

/** Tag under which registries without the referrers API have the index of a digest's referrers. */
export function fallbackTag(digest: string): string {
  return digest.replace(':', '-');
}

interface ReferrerSearch {
  /** See `ImagePlace.findReferrers`. */
  readonly isOther?: ((digest: string) => boolean) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Manifests whose subject is this digest, such as signatures and bills of materials: from the API,
 * else from the fallback tag (distribution spec).
 */
export async function referrersOf(
  place: ImagePlace,
  digest: string,
  { isOther, signal }: ReferrerSearch,
): Promise<readonly TypedDescriptor[]> {
  const index =
    (await place.findReferrers(digest, signal, isOther)) ??
    (await place.findManifest(fallbackTag(digest), signal));
  return index === undefined ? [] : manifestParts(index).manifests;
}

/** The descriptor by which an index of referrers lists a manifest. */
export function referrerDescriptor(manifest: ManifestContent): TypedDescriptor {
  const { mediaType, artifactType, annotations } = manifestParts(manifest);
  const { digest, bytes } = manifest;
  return {
    mediaType,
    digest,
    size: bytes.byteLength,
    ...(artifactType === undefined ? {} : { artifactType }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

/** An index of manifests, with its exact bytes. */
export function indexOf(manifests: readonly TypedDescriptor[]): ManifestContent {
  const document = { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests };
  const bytes = Buffer.from(JSON.stringify(document));
  return { bytes, digest: digestOf(bytes), contentType: mediaTypes.ociIndex };
}
