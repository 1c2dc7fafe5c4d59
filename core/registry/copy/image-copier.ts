import { TerminalError } from '../../errors.ts';
import type { BlobToPush, ImagePlace, ImageTarget } from '../configuration/place.ts';
import type { Descriptor } from '../manifest.ts';
import { manifestParts } from '../manifest-parts.ts';
import { type AttachedPush, attachedPush } from './attached-tag.ts';
import { CountedBlob, type CountOptions } from './blob-bytes.ts';
import type { HostLimits } from './host-limits.ts';
import type { OwnManifest, WholeImage } from './whole-image.ts';

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
  readonly tag?: string | undefined;
}

export interface CopierOptions extends CountOptions {
  readonly limits: HostLimits;
  /** Whether to skip a blob. Defaults to copying all blobs. */
  readonly isLeftOut?: ((digest: string) => boolean) | undefined;
  /** Repository of the target's host that may have a blob. Defaults to none. */
  readonly mountFrom?: ((digest: string) => string | undefined) | undefined;
  /** Receives each attachment that the target does not get, so that it keeps its own. */
  readonly onKept?: ((kept: KeptTag) => void) | undefined;
}

/** A tag of cosign whose content on the target stays, without what the source has under it. */
export interface KeptTag {
  /** Name of the target. */
  readonly name: string;
  readonly tag: string;
  readonly reason: string;
}

/** Blobs of one image that are copied at once. */
const blobsAtOnce = 4;

/** Copies images with their manifests and blobs. Does not send content that the target has. */
export class ImageCopier {
  readonly #options: CopierOptions;
  /** Repository that has a blob, by host and digest: other repositories mount the blob from it. */
  readonly #blobs = new Map<string, Promise<string | undefined>>();
  /** The last push under a tag of cosign: images with one digest share the tag. */
  readonly #attached = new Map<string, Promise<void>>();

  constructor(options: CopierOptions) {
    this.#options = options;
  }

  /**
   * Copies an image under its digest, and under the target's tag if any.
   * @returns whether anything was missing on the target
   */
  async copy(content: WholeImage, source: CopySource, target: CopyTarget): Promise<boolean> {
    const missing = await this.#missing(content, source, target);
    if (missing.length === 0 && !(await this.#lacksBlobs(content.blobs, target))) {
      for (const { size } of content.blobs) this.#options.onBytes(size, false);
      return await this.#tag(content.digest, target);
    }
    await this.#copyBlobs(content.blobs, source, target);
    for (const manifest of missing) {
      const isTop = manifest.digest === content.digest;
      if (manifest.tag !== undefined) await this.#attach(manifest, source, target);
      else
        await this.#copyManifest(manifest, source, isTop ? target : { ...target, tag: undefined });
    }
    const isTagged = missing.some(({ digest }) => digest === content.digest);
    if (!isTagged) await this.#tag(content.digest, target);
    return true;
  }

  /** Manifests that the target lacks. */
  async #missing(
    { manifests }: WholeImage,
    source: CopySource,
    to: CopyTarget,
  ): Promise<readonly OwnManifest[]> {
    const { limits, signal } = this.#options;
    const missing: OwnManifest[] = [];
    for (const manifest of manifests) {
      if (manifest.tag !== undefined) {
        const { kind } = await this.#attachedPush(manifest, source, to);
        if (kind === 'copy' || kind === 'union') missing.push(manifest);
        continue;
      }
      const isThere = await limits.run([to.host], () => isComplete(manifest, to.target, signal));
      if (!isThere) missing.push(manifest);
    }
    return missing;
  }

  /** Whether the target, with all manifests of an image, lacks blobs that this run copies. */
  async #lacksBlobs(blobs: readonly Descriptor[], { target }: CopyTarget): Promise<boolean> {
    const { signal, isLeftOut } = this.#options;
    for (const blob of target.mayLackBlobs ? blobs : []) {
      if (isLeftOut?.(blob.digest) !== true && !(await target.hasBlob(blob, signal))) return true;
    }
    return false;
  }

  /** Pushes what cosign has attached; what the target has under the same tag stays. */
  async #attach(manifest: OwnManifest, source: CopySource, to: CopyTarget): Promise<void> {
    const { limits, signal } = this.#options;
    const { host, repository, target } = to;
    const key = `${host} ${repository} ${manifest.tag}`;
    const before = this.#attached.get(key) ?? Promise.resolve();
    const attached = before
      .catch(() => undefined)
      .then(async () => {
        const push = await this.#attachedPush(manifest, source, to);
        if (push.kind === 'copy') {
          await this.#copyManifest(manifest, source, { ...to, tag: manifest.tag });
        } else if (push.kind === 'union') {
          await limits.run([host], async () => {
            await target.pushBlob(push.config, signal);
            await target.pushManifest(push.manifest, signal);
          });
        }
      });
    this.#attached.set(key, attached);
    await attached;
  }

  async #attachedPush(
    { digest, tag = '' }: OwnManifest,
    { place, host: from }: CopySource,
    { target, host }: CopyTarget,
  ): Promise<AttachedPush> {
    const { limits, signal, onKept } = this.#options;
    const push = await limits.run([from, host], () =>
      attachedPush({ tag, digest, place, target, signal }),
    );
    if (push.kind === 'kept') onKept?.({ name: target.name, tag, reason: push.reason });
    return push;
  }

  async #copyBlobs(
    blobs: readonly Descriptor[],
    source: CopySource,
    target: CopyTarget,
  ): Promise<void> {
    // After a failure no further blob starts; the running ones finish first.
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

  /** Copies the same blob of several images one after another: the later ones mount it. */
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
    const { limits, onBytes, signal, isLeftOut, mountFrom } = this.#options;
    const { digest, size } = descriptor;
    if (known === repository || isLeftOut?.(digest) === true) return onBytes(size, false);
    const isSameHost = source.host === host;
    const counted = new CountedBlob(descriptor, source.place, this.#options);
    const blob: BlobToPush = {
      descriptor,
      open: () => counted.open(),
      mountFrom: known ?? mountFrom?.(digest) ?? (isSameHost ? source.repository : undefined),
    };
    await limits.run([source.host, host], () => target.pushBlob(blob, signal));
    onBytes(size - counted.bytes, false);
  }

  async #copyManifest(
    { digest, isPart }: OwnManifest,
    source: CopySource,
    { target, host, tag }: CopyTarget,
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

  async #tag(digest: string, { target, host, tag }: CopyTarget): Promise<boolean> {
    if (tag === undefined) return false;
    const { limits, signal } = this.#options;
    return await limits.run([host], async () => {
      if ((await target.findDigest(tag, signal)) === digest) return false;
      await target.tag(digest, tag, signal);
      return true;
    });
  }
}

/** Whether a target has a manifest, and lists it as a referrer of its subject. */
async function isComplete(
  { digest, subject }: OwnManifest,
  target: ImageTarget,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await target.findDigest(digest, signal)) !== digest) return false;
  return subject === undefined || (await target.hasReferrer({ digest, subject }, signal));
}
