import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import type { ContentMemory } from '../../contracts/source.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AddressPolicy, ProxyConfig } from '../../platform/net/index.ts';
import { SharedWork } from '../../platform/shared-work.ts';
import {
  type Credentials,
  credentialsKey,
  DeniedError,
  type ImageManifest,
  type ImageReference,
  type ImageVerifier,
  joinedFailure,
  type Keychain,
  manifestReference,
  nodePlatform,
  type Platform,
  PullFailure,
  type PullPlace,
  type PullPlaces,
  parseImageReference,
  parseManifest,
  pullError,
  pullPlaces,
  type RegistriesConfig,
  type RegistryCertificates,
  RegistryClient,
  registryHost,
  repositoryName,
  TokenService,
  Transports,
  UnavailableError,
} from '../../registry/index.ts';
import { downloadLayers } from './layers.ts';

export interface ImagePullerOptions {
  /** Hosts (`host[:port]`) to use over plain HTTP; all others use HTTPS. */
  readonly insecureRegistries: readonly string[];
  /** Mirrors and rewritten places of registries. */
  readonly registries?: RegistriesConfig | undefined;
  /** PEM certificates of trusted CAs, in addition to the system's. */
  readonly caCertificates?: string | undefined;
  readonly hostCertificates?: RegistryCertificates | undefined;
  readonly proxy?: ProxyConfig | undefined;
  /**
   * Addresses that connections may use, token servers and redirects included (default: all).
   * Registries in the other options are always allowed.
   */
  readonly addresses?: AddressPolicy | undefined;
  /** Refuses images before their layers are downloaded. */
  readonly verifier?: ImageVerifier | undefined;
  /** The manifest to take from an index (default: Linux on this process's architecture). */
  readonly platform?: Platform | undefined;
  readonly userAgent?: string | undefined;
  readonly clock: Clock;
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

interface ResolvedImage {
  readonly client: RegistryClient;
  readonly digest: string;
  readonly credentials: Credentials | undefined;
  readonly manifest: ImageManifest;
}

interface NamedPull extends PullOptions {
  /** The requested repository, even if a mirror is read. */
  readonly repository: string;
}

const maxIndexDepth = 3;
/** Part of the timeout for one attempt, so that its error can still be reported. */
const shareOfTimeout = 0.9;

/**
 * Pulls images from OCI registries: manifest, layers, files. Concurrent pulls of the same image
 * with the same credentials share one download.
 */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #tokens: TokenService;
  readonly #transports: Transports;
  readonly #downloads = new SharedWork<BundleFiles>();

  constructor(options: ImagePullerOptions) {
    const { caCertificates, userAgent = 'rukpak-ts' } = options;
    this.#options = options;
    this.#tokens = new TokenService(options.clock);
    this.#transports = new Transports({
      ...options,
      caCertificates: caCertificates === undefined ? [] : [caCertificates],
      userAgent,
    });
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
      const image = await this.#resolve(place, options);
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

  /** Uses the first credentials that the registry accepts. */
  async #resolve(place: PullPlace, options: PullOptions): Promise<ResolvedImage> {
    const { reference, insecure } = place;
    const { caCertificates, keychain } = options;
    const uncheckedHost = insecure ? registryHost(reference.domain) : undefined;
    const candidates = keychain.credentialsFor(reference);
    let denied: unknown;
    for (const credentials of candidates.length === 0 ? [undefined] : candidates) {
      const client = new RegistryClient(reference, {
        transport: this.#transports.get({ caCertificates, uncheckedHost, isChosen: insecure }),
        tokens: this.#tokens,
        credentials: credentials === undefined ? [] : [credentials],
        clock: this.#options.clock,
      });
      try {
        const { digest, manifest } = await this.#manifest(client, reference, options.signal);
        return { client, digest, credentials, manifest };
      } catch (error) {
        if (!(error instanceof DeniedError)) throw error;
        denied ??= error;
      }
    }
    throw denied;
  }

  async #manifest(
    client: RegistryClient,
    reference: ImageReference,
    signal: AbortSignal,
  ): Promise<{ readonly digest: string; readonly manifest: ImageManifest }> {
    const platform = this.#options.platform ?? nodePlatform();
    const first = await client.manifest(manifestReference(reference), signal);
    let manifest = parseManifest(first.bytes, first.contentType);
    for (let depth = 1; manifest.kind === 'index'; depth += 1) {
      if (depth > maxIndexDepth) throw new TerminalError('image indexes are nested too deeply');
      const { digest } = manifest.select(platform);
      const content = await client.manifest(digest, signal);
      manifest = parseManifest(content.bytes, content.contentType);
    }
    return { digest: first.digest, manifest };
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
