import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import type { ContentMemory } from '../../contracts/source.ts';
import { WaitingError } from '../../errors.ts';
import { SharedWork } from '../../platform/shared-work.ts';
import {
  credentialsKey,
  type ImageVerifier,
  joinedFailure,
  type Keychain,
  PullFailure,
  type PullPlace,
  type PullPlaces,
  parseImageReference,
  pullError,
  pullPlaces,
  repositoryName,
  UnavailableError,
} from '../../registry/index.ts';
import { ImageResolver, type ImageResolverOptions, type ResolvedImage } from './image-resolver.ts';
import { downloadLayers } from './layers.ts';

export interface ImagePullerOptions extends ImageResolverOptions {
  /** Refuses images before their layers are downloaded. */
  readonly verifier?: ImageVerifier | undefined;
}

export interface PullOptions {
  readonly limits: ContentLimits;
  readonly keychain: Keychain;
  /** PEM certificates of trusted CAs for this pull only. */
  readonly caCertificates?: string | undefined;
  /**
   * Reserves the bytes of the files; of concurrent pulls of the same image, the first one's counts,
   * until the download ends.
   */
  readonly memory?: ContentMemory | undefined;
  readonly signal: AbortSignal;
}

export interface PulledImage {
  readonly files: BundleFiles;
  /** `<repository>@<digest>`, with the digest of the referenced manifest or index. */
  readonly pinnedRef: string;
}

interface NamedPull extends PullOptions {
  /** The requested repository, even if a mirror is read. */
  readonly repository: string;
}

/** Part of the timeout for one attempt, so that its error can still be reported. */
const shareOfTimeout = 0.9;

/**
 * Pulls images from OCI registries: manifest, layers, files. Concurrent pulls of the same image
 * with the same credentials share one download.
 */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #resolver: ImageResolver;
  readonly #downloads = new SharedWork<BundleFiles>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
    this.#resolver = new ImageResolver(options);
  }

  /**
   * @throws WaitingError `Back-off pulling image "<ref>": <cause>` when the image or the registry
   * is not available, and when core needs the memory; TerminalError for an invalid reference, and
   * for bad content of a digest
   */
  async pull(ref: string, options: PullOptions): Promise<PulledImage> {
    const reference = parseImageReference(ref);
    const places = pullPlaces(reference, this.#options.registries ?? { registries: [] });
    using deadline = this.#deadline(options);
    const signal = AbortSignal.any([options.signal, deadline.signal]);
    const repository = repositoryName(reference);
    const image = await this.#pullFromAny(places, { ...options, repository, signal });
    if (!(image instanceof PullFailure)) {
      // An image from a mirror keeps its requested name.
      return { files: image.files, pinnedRef: `${repository}@${image.digest}` };
    }
    options.signal.throwIfAborted();
    const { doing } = image;
    const isTooLong = deadline.signal.aborted;
    const failure = isTooLong ? new PullFailure(doing, deadline.signal.reason) : image;
    throw pullError(failure, { ref, pinned: reference.digest !== undefined });
  }

  async #pullFromAny(
    where: PullPlaces,
    options: NamedPull,
  ): Promise<{ readonly files: BundleFiles; readonly digest: string } | PullFailure> {
    const failures: PullFailure[] = [];
    for (const place of where.places) {
      const image = await this.#pullFrom(place, options);
      if (!(image instanceof PullFailure)) return image;
      failures.push(image);
      if (options.signal.aborted) break;
    }
    return joinedFailure(failures, where, options.keychain);
  }

  async #pullFrom(
    place: PullPlace,
    options: NamedPull,
  ): Promise<{ readonly files: BundleFiles; readonly digest: string } | PullFailure> {
    let doing: PullFailure['doing'] = 'fetching image descriptor';
    try {
      const image = await this.#resolver.resolve(place, options);
      doing = 'verifying image signature';
      const { client, digest } = image;
      const { repository, signal } = options;
      await this.#options.verifier?.verify({ repository, digest, client }, signal);
      doing = 'unpacking image';
      const files = await this.#download(place, image, options);
      return { files, digest: image.digest };
    } catch (error) {
      // The memory is needed for others: no other place would change that.
      if (error instanceof WaitingError) throw error;
      return new PullFailure(doing, error);
    }
  }

  async #download(
    { reference }: PullPlace,
    { client, digest, credentials, manifest }: ResolvedImage,
    { limits, caCertificates = '', memory, signal }: PullOptions,
  ): Promise<BundleFiles> {
    const place = [repositoryName(reference), digest, credentialsKey(credentials)];
    return await this.#downloads.run(
      JSON.stringify([...place, caCertificates, limits]),
      async (signal) => {
        const lent = memory?.lend?.(signal);
        try {
          const ending = lent?.signal ?? signal;
          return await downloadLayers(client, manifest, {
            limits,
            memory: lent ?? memory,
            signal: ending,
          });
        } finally {
          lent?.release();
        }
      },
      signal,
    );
  }

  #deadline({ limits }: PullOptions): Disposable & { readonly signal: AbortSignal } {
    const expired = new AbortController();
    const done = new AbortController();
    const tooLong = new UnavailableError(
      `not complete within the limit of ${limits.timeout / 1000} s (--content-timeout)`,
    );
    this.#options.clock
      .sleep(limits.timeout * shareOfTimeout, done.signal)
      .then(() => expired.abort(tooLong))
      .catch(() => undefined);
    return { signal: expired.signal, [Symbol.dispose]: () => done.abort() };
  }
}
