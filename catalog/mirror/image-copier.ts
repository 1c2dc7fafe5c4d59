import { TerminalError } from '../../core/errors.ts';
import type { BlobToPush, Descriptor, ImagePlace, ImageTarget } from '../../core/registry/index.ts';
import { manifestParts } from '../../core/registry/index.ts';
import type { HostLimits } from './host-limits.ts';
import type { ContentManifest, ImageContent } from './image-content.ts';

/** Where an image is read. */
export interface CopySource {
  readonly place: ImagePlace;
  /** `host[:port]` of the registry; the directory of a layout. */
  readonly host: string;
  /** Path of the repository. */
  readonly repository: string;
}

/** Where an image is written. */
export interface CopyTarget extends Omit<CopySource, 'place'> {
  readonly target: ImageTarget;
}

export interface CopierOptions {
  readonly limits: HostLimits;
  /** Told of bytes as they come; `sent` ones came through the network. */
  readonly onBytes: (bytes: number, sent: boolean) => void;
  readonly signal: AbortSignal;
}

/** Blobs of one image that are copied at once. */
const blobsAtOnce = 4;

/** Copies images with all that they are made of. What the target has is not sent again. */
export class ImageCopier {
  readonly #options: CopierOptions;
  /** The repository that has a blob, by host and digest: others mount it from there. */
  readonly #blobs = new Map<string, Promise<string | undefined>>();

  constructor(options: CopierOptions) {
    this.#options = options;
  }

  /**
   * Copies an image under its digest, and a tag where the target is a registry.
   * @returns whether anything was missing on the target
   */
  async copy(
    content: ImageContent,
    source: CopySource,
    target: CopyTarget & { readonly tag?: string | undefined },
  ): Promise<boolean> {
    const missing = await this.#missing(content, target);
    if (missing.length === 0) {
      for (const { size } of content.blobs) this.#options.onBytes(size, false);
    } else {
      await this.#copyBlobs(content.blobs, source, target);
      for (const manifest of missing) await this.#copyManifest(manifest, source, target);
    }
    const isTagged = await this.#tag(content.digest, target);
    return missing.length > 0 || isTagged;
  }

  /** Manifests that the target does not have; where it has them all, it has what they name. */
  async #missing(
    { manifests }: ImageContent,
    { target, host }: CopyTarget,
  ): Promise<readonly ContentManifest[]> {
    const { limits, signal } = this.#options;
    const missing: ContentManifest[] = [];
    for (const manifest of manifests) {
      const reference = manifest.tag ?? manifest.digest;
      const digest = await limits.run([host], () => target.findDigest(reference, signal));
      if (digest !== manifest.digest) missing.push(manifest);
    }
    return missing;
  }

  async #copyBlobs(
    blobs: readonly Descriptor[],
    source: CopySource,
    target: CopyTarget,
  ): Promise<void> {
    // One that fails ends the image; those under way are waited for.
    const rest = blobs[Symbol.iterator]();
    const failures: unknown[] = [];
    const worker = async (): Promise<void> => {
      for (const blob of { [Symbol.iterator]: () => rest }) {
        if (failures.length > 0) return;
        await this.#copyBlob(blob, source, target).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: blobsAtOnce }, worker));
    if (failures.length > 0) throw failures[0];
  }

  /** One after the other where several images have the blob: the later ones mount it. */
  async #copyBlob(blob: Descriptor, source: CopySource, target: CopyTarget): Promise<void> {
    const key = `${target.host} ${blob.digest}`;
    const earlier = this.#blobs.get(key) ?? Promise.resolve(undefined);
    const copied = earlier.then((known) => this.#pushBlob(blob, source, { ...target, known }));
    const repository = copied.then(
      () => target.repository,
      () => earlier,
    );
    this.#blobs.set(key, repository);
    await copied;
  }

  async #pushBlob(
    descriptor: Descriptor,
    source: CopySource,
    { target, host, repository, known }: CopyTarget & { readonly known: string | undefined },
  ): Promise<void> {
    const { limits, onBytes, signal } = this.#options;
    if (known === repository) return onBytes(descriptor.size, false);
    const isSameHost = source.host === host;
    const counted = new CountedBlob(descriptor, source.place, this.#options);
    const blob: BlobToPush = {
      descriptor,
      open: () => counted.open(),
      mountFrom: known ?? (isSameHost ? source.repository : undefined),
    };
    await limits.run([source.host, host], () => target.pushBlob(blob, signal));
    onBytes(descriptor.size - counted.bytes, false);
  }

  async #copyManifest(
    { digest, isPart, tag }: ContentManifest,
    source: CopySource,
    { target, host }: CopyTarget,
  ): Promise<void> {
    const { limits, signal } = this.#options;
    const content = await limits.run([source.host], () => source.place.manifest(digest, signal));
    const { bytes } = content;
    const { mediaType } = manifestParts(content);
    const pushed = await limits.run([host], () =>
      target.pushManifest({ bytes, mediaType, isPart, tag }, signal),
    );
    if (pushed.digest === digest) return;
    throw new TerminalError(`${target.name} took manifest ${digest} for ${pushed.digest}`);
  }

  async #tag(
    digest: string,
    { target, host, tag }: CopyTarget & { readonly tag?: string | undefined },
  ): Promise<boolean> {
    if (tag === undefined) return false;
    const { limits, signal } = this.#options;
    return await limits.run([host], async () => {
      if ((await target.findDigest(tag, signal)) === digest) return false;
      await target.tag(digest, tag, signal);
      return true;
    });
  }
}

/** A blob's bytes, each of them counted once, however often they are read. */
class CountedBlob {
  bytes = 0;
  readonly #descriptor: Descriptor;
  readonly #place: ImagePlace;
  readonly #options: Pick<CopierOptions, 'onBytes' | 'signal'>;

  constructor(
    descriptor: Descriptor,
    place: ImagePlace,
    options: Pick<CopierOptions, 'onBytes' | 'signal'>,
  ) {
    this.#descriptor = descriptor;
    this.#place = place;
    this.#options = options;
  }

  async *open(): AsyncGenerator<Uint8Array> {
    const { onBytes, signal } = this.#options;
    const blob = this.#place.blob(this.#descriptor, signal);
    let offset = 0;
    try {
      for await (const chunk of blob) {
        offset += chunk.byteLength;
        const fresh = Math.max(0, offset - this.bytes);
        this.bytes += fresh;
        if (fresh > 0) onBytes(fresh, true);
        yield chunk;
      }
      await blob.verify();
    } finally {
      blob.close();
    }
  }
}
