import { systemClock } from '../../core/platform/clock.ts';
import {
  type Credentials,
  digestOf,
  type ImageTarget,
  mediaTypes,
  parseImageReference,
  RegistryAccess,
  type TypedDescriptor,
} from '../../core/registry/index.ts';
import { type LayerContent, layerArchive } from './layer-archive.ts';

export interface PushTarget {
  /** `host:port` of a registry that speaks plain HTTP. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly credentials?: Credentials;
}

export interface ImageContent extends PushTarget {
  /** Bottom first; some are wrong on purpose. */
  readonly layers: readonly LayerContent[];
  /** Go's name (default: amd64). */
  readonly architecture?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface PushedImage extends TypedDescriptor {
  readonly platform: { readonly os: string; readonly architecture: string };
}

const { signal } = new AbortController();

/** Pushes an image of small layers, as tests describe them. */
export async function pushImage(image: ImageContent): Promise<PushedImage> {
  const platform = { os: 'linux', architecture: image.architecture ?? 'amd64' };
  const layers: TypedDescriptor[] = [];
  const diffIds: string[] = [];
  for (const content of image.layers) {
    const { bytes, mediaType, archive } = await layerArchive(content);
    layers.push(await pushBlob(image, { bytes, mediaType }));
    diffIds.push(digestOf(archive));
  }
  const rootfs = { type: 'layers', diff_ids: diffIds };
  const config = image.labels === undefined ? {} : { Labels: image.labels };
  const bytes = Buffer.from(JSON.stringify({ ...platform, config, rootfs }));
  const manifest = await pushManifest(image, {
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    config: await pushBlob(image, { bytes, mediaType: mediaTypes.ociConfig }),
    layers,
  });
  return { ...manifest, platform };
}

/** Pushes an index of images that the same repository has. */
export async function pushIndex(
  index: PushTarget & { readonly manifests: readonly PushedImage[] },
): Promise<TypedDescriptor> {
  const mediaType = mediaTypes.ociIndex;
  return await pushManifest(index, { schemaVersion: 2, mediaType, manifests: index.manifests });
}

/** Pushes bytes that a manifest is going to name. */
export async function pushBlob(
  to: PushTarget,
  { bytes, mediaType }: { readonly bytes: Uint8Array; readonly mediaType: string },
): Promise<TypedDescriptor> {
  const descriptor = { digest: digestOf(bytes), size: bytes.byteLength };
  await repositoryOf(to).pushBlob({ descriptor, open: () => [bytes] }, signal);
  return { mediaType, ...descriptor };
}

/** Pushes a manifest of any kind, whose blobs the repository has. */
export async function pushManifest(
  to: PushTarget,
  manifest: { readonly mediaType: string; readonly [field: string]: unknown },
): Promise<TypedDescriptor> {
  const bytes = Buffer.from(JSON.stringify(manifest));
  const { mediaType } = manifest;
  return await repositoryOf(to).pushManifest({ bytes, mediaType, tag: to.tag }, signal);
}

function repositoryOf({ registry, repository, tag, credentials }: PushTarget): ImageTarget {
  const known = credentials === undefined ? [] : [credentials];
  const access = new RegistryAccess({
    insecureRegistries: [registry],
    caCertificates: [],
    keychain: { credentialsFor: () => known },
    clock: systemClock,
  });
  return access.repositoryTarget(parseImageReference(`${registry}/${repository}:${tag}`));
}
