import { z } from 'zod';
import { record } from '../../api/record.ts';
import { TerminalError } from '../../core/errors.ts';
import {
  blobBytes,
  type Descriptor,
  type ImageManifest,
  type ManifestContent,
  nodePlatform,
  type OpenedImage,
  type Platform,
  parseManifest,
} from '../../core/registry/index.ts';

/** An image for one platform. */
export interface PlatformImage {
  readonly labels: Readonly<Record<string, string>>;
  /** Bottom first. */
  readonly layers: readonly Descriptor[];
}

const maxConfigSize = 4 * 1024 * 1024;
const maxDepth = 3;
const configSchema = z.object({
  config: z.object({ Labels: record(z.string()).nullish() }).nullish(),
});

/** The manifest of one image, as stored and parsed. */
export interface PlatformManifest {
  readonly content: ManifestContent;
  readonly manifest: ImageManifest;
}

/** The manifest for the platform that `platformImage` reads. @throws as `platformImage` */
export async function platformManifest(
  { place, manifest: first }: OpenedImage,
  signal: AbortSignal,
): Promise<PlatformManifest> {
  let content = first;
  let manifest = parseManifest(first.bytes, first.contentType);
  for (let depth = 1; manifest.kind === 'index'; depth += 1) {
    if (depth > maxDepth) throw new TerminalError('image indexes are nested too deeply');
    const index = manifest;
    const { digest } = selected((platform) => index.select(platform));
    content = await place.manifest(digest, signal);
    manifest = parseManifest(content.bytes, content.contentType);
  }
  return { content, manifest };
}

/**
 * Labels and layers of an image for this node's platform. The content of catalogs and bundles is
 * the same on all platforms, so an index without this one falls back to linux/amd64.
 * @throws TerminalError for content that is not an image
 */
export async function platformImage(
  image: OpenedImage,
  signal: AbortSignal,
): Promise<PlatformImage> {
  const { config, layers } = (await platformManifest(image, signal)).manifest;
  const { place } = image;
  if (config.size > maxConfigSize) {
    throw new TerminalError(`the configuration of the image has ${config.size} bytes`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of blobBytes(place, config, signal)) chunks.push(chunk);
  return { labels: labelsOf(Buffer.concat(chunks)), layers };
}

function selected(select: (platform: Platform) => Descriptor): Descriptor {
  try {
    return select(nodePlatform());
  } catch (error) {
    try {
      return select({ os: 'linux', architecture: 'amd64' });
    } catch {
      throw error;
    }
  }
}

function labelsOf(config: Buffer): Readonly<Record<string, string>> {
  try {
    return configSchema.parse(JSON.parse(config.toString('utf8'))).config?.Labels ?? {};
  } catch (error) {
    throw new TerminalError('the configuration of the image cannot be read', { cause: error });
  }
}
