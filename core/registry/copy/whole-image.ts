import { quoted, TerminalError } from '../../errors.ts';
import type { ImagePlace, ManifestContent } from '../configuration/place.ts';
import type { Descriptor, TypedDescriptor } from '../manifest.ts';
import { listedManifests, manifestParts } from '../manifest-parts.ts';
import type { Platform } from '../platform.ts';
import { fallbackTag, referrersOf } from '../referrers.ts';
import { DeniedError } from '../registry-errors.ts';

/** A manifest of an image, or of one of its attachments. */
export interface OwnManifest extends Descriptor {
  /** Whether it belongs to an index that follows it. */
  readonly isPart: boolean;
  /** Tag of a signature in cosign's scheme. */
  readonly tag?: string | undefined;
  /** Digest of the manifest that it is attached to. */
  readonly subject?: string | undefined;
}

/** All manifests and blobs of an image; a manifest follows the ones that it lists. */
export interface WholeImage {
  readonly digest: string;
  readonly manifests: readonly OwnManifest[];
  /** Without duplicates. */
  readonly blobs: readonly Descriptor[];
}

export interface ImageToRead {
  readonly place: ImagePlace;
  readonly manifest: ManifestContent;
  /** Includes the signatures, attestations and bills of materials attached to the image. */
  readonly withAttached: boolean;
  /** Reads only the images of an index for this platform; the index itself stays unchanged. */
  readonly platform?: Platform | undefined;
  /** Whether an image of an index is to be read, in addition to `platform`. Defaults to all. */
  readonly hasPart?: ((digest: string) => Promise<boolean>) | undefined;
  /** Whether a manifest that cannot be read is not attached to the image. Defaults to none. */
  readonly isOther?: ((digest: string) => boolean) | undefined;
  readonly signal: AbortSignal;
}

/** BuildKit lists the attestations of an image beside it, for no platform, with its digest. */
const attestedDigest = 'vnd.docker.reference.digest';
/** Maximum levels of nested indexes and attachments. */
const maxDepth = 4;
/** Maximum manifests of one image with its attachments. */
const maxManifests = 5_000;

/**
 * Reads the content of an image, of an index with its images, or of an artifact.
 * @throws TerminalError for anything else
 */
export async function readWholeImage(image: ImageToRead): Promise<WholeImage> {
  const reader = new WholeReader(image);
  await reader.read(image.manifest, { isPart: false, depth: 0 });
  return { digest: image.manifest.digest, ...reader.content };
}

interface Role {
  readonly isPart: boolean;
  readonly depth: number;
  readonly tag?: string;
}

class WholeReader {
  readonly #image: ImageToRead;
  readonly #manifests = new Map<string, OwnManifest>();
  readonly #blobs = new Map<string, Descriptor>();

  constructor(image: ImageToRead) {
    this.#image = image;
  }

  get content(): Omit<WholeImage, 'digest'> {
    return { manifests: [...this.#manifests.values()], blobs: [...this.#blobs.values()] };
  }

  async read(manifest: ManifestContent, role: Role): Promise<void> {
    const parts = await this.#readParts(manifest, role);
    if (!this.#image.withAttached) return;
    // If an index has no attachments, its images are assumed to have none either.
    if (await this.#readAttached(manifest.digest, role)) {
      for (const { digest } of parts) await this.#readAttached(digest, role);
    }
  }

  /** Reads the images of an index, and then the index itself. */
  async #readParts(manifest: ManifestContent, role: Role): Promise<readonly TypedDescriptor[]> {
    const { digest, bytes } = manifest;
    if (role.depth > maxDepth || this.#manifests.size >= maxManifests) {
      throw new TerminalError(
        `the image has more than ${maxManifests} manifests or ${maxDepth} levels of them`,
      );
    }
    const { blobs, subject } = manifestParts(manifest);
    const wanted = await this.#present(this.#ofPlatform(manifest));
    for (const part of wanted) {
      if (this.#manifests.has(part.digest)) continue;
      const content = await this.#image.place.manifest(part.digest, this.#image.signal);
      await this.#readParts(content, { isPart: true, depth: role.depth + 1 });
    }
    for (const blob of blobs) {
      const { digest: own, size } = blob;
      if (!isKeptElsewhere(blob)) this.#blobs.set(own, { digest: own, size });
    }
    const { isPart, tag } = role;
    const size = bytes.byteLength;
    this.#manifests.set(digest, { digest, size, isPart, tag, subject: subject?.digest });
    return wanted;
  }

  async #present(manifests: readonly TypedDescriptor[]): Promise<readonly TypedDescriptor[]> {
    const { hasPart } = this.#image;
    if (hasPart === undefined) return manifests;
    const found = await Promise.all(manifests.map(({ digest }) => hasPart(digest)));
    return manifests.filter((_, index) => found[index]);
  }

  #ofPlatform(manifest: ManifestContent): readonly TypedDescriptor[] {
    const { platform } = this.#image;
    const { manifests } = manifestParts(manifest);
    if (platform === undefined || manifests.length === 0) return manifests;
    // An index may list one image for several platforms.
    const entries = listedManifests(manifest);
    const ofIt = entries.filter(
      (each) => each.platform === undefined || isOf(each.platform, platform),
    );
    if (ofIt.length === 0) {
      const offered = entries.map((each) => platformText(each.platform)).slice(0, 20);
      throw new TerminalError(
        `the image is not for ${platformText(platform)}: it has ${offered.join(', ')}`,
      );
    }
    const digests = new Set(ofIt.map(({ digest }) => digest));
    return manifests.filter(
      ({ digest, annotations }) =>
        digests.has(digest) || digests.has(annotations?.[attestedDigest] ?? ''),
    );
  }

  /** Reads the attachments of a manifest; returns whether there are any. */
  async #readAttached(digest: string, role: Role): Promise<boolean> {
    if (role.depth > maxDepth) return false;
    const { place, signal } = this.#image;
    const next = { isPart: false, depth: role.depth + 1 };
    const referrers = await unlessDenied(() => referrersOf(place, digest, this.#image), []);
    for (const referrer of referrers) {
      if (this.#manifests.has(referrer.digest)) continue;
      await this.read(await place.manifest(referrer.digest, signal), next);
    }
    let found = referrers.length > 0;
    for (const suffix of ['sig', 'att', 'sbom']) {
      const tag = `${fallbackTag(digest)}.${suffix}`;
      const manifest = await unlessDenied(() => place.findManifest(tag, signal), undefined);
      if (manifest === undefined) continue;
      found = true;
      await this.#readParts(manifest, { ...next, tag });
    }
    return found;
  }
}

/**
 * Some registries deny access to missing content; access to the image itself has already worked.
 */
async function unlessDenied<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof DeniedError) return otherwise;
    throw error;
  }
}

/** Layers that no registry has, such as those of Windows: clients load them from their vendor. */
function isKeptElsewhere({ mediaType }: TypedDescriptor): boolean {
  return /(?:nondistributable|\.foreign\.)/.test(mediaType);
}

function isOf(platform: Platform, wanted: Platform): boolean {
  return (
    platform.os === wanted.os &&
    platform.architecture === wanted.architecture &&
    (wanted.variant === undefined || platform.variant === wanted.variant)
  );
}

function platformText(platform: Platform | undefined): string {
  if (platform === undefined) return 'an image without a platform';
  const { os, architecture, variant = '' } = platform;
  return [os, architecture, ...(variant === '' ? [] : [variant])].join('/');
}

/** @throws TerminalError unless the text is `<os>/<architecture>[/<variant>]` */
export function parsePlatform(text: string): Platform {
  const [os = '', architecture = '', variant, more] = text.split('/');
  if (os === '' || architecture === '' || variant === '' || more !== undefined) {
    throw new TerminalError(`platform ${quoted(text)} is not written as in linux/amd64`);
  }
  return variant === undefined ? { os, architecture } : { os, architecture, variant };
}
