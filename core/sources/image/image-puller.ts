import type { Clock } from '../../clock.ts';
import type { BundleFiles, ContentLimits } from '../../contracts/bundle-files.ts';
import { errorMessage, TerminalError, WaitingError } from '../../errors.ts';
import type { Credentials, Keychain } from './keychain.ts';
import { LayeredTree, layerError } from './layers.ts';
import { type Descriptor, type ImageManifest, parseManifest } from './manifest.ts';
import { nodePlatform, type Platform } from './platform.ts';
import {
  type ImageReference,
  manifestReference,
  parseImageReference,
  repositoryName,
} from './reference.ts';
import { RegistryClient } from './registry-client.ts';
import { DeniedError, UnavailableError } from './registry-errors.ts';
import { SharedWork } from './shared-work.ts';
import { credentialsKey, TokenService } from './token-service.ts';
import { Transport } from './transport.ts';

export interface ImagePullerOptions {
  /** Hosts (`host[:port]`) that are spoken to over plain HTTP; all others over HTTPS. */
  readonly insecureRegistries: readonly string[];
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCertificates?: string | undefined;
  /** Which manifest of an index to take; Linux on this process's architecture if absent. */
  readonly platform?: Platform | undefined;
  readonly userAgent?: string | undefined;
  readonly clock: Clock;
}

export interface PullOptions {
  readonly limits: ContentLimits;
  readonly keychain: Keychain;
  /** PEM certificates of authorities to trust for this pull alone. */
  readonly caCertificates?: string | undefined;
  readonly signal: AbortSignal;
}

export interface PulledImage {
  readonly files: BundleFiles;
  /** `<repository>@<digest>`, the digest being that of the manifest or index referred to. */
  readonly pinnedRef: string;
}

interface ResolvedImage {
  readonly client: RegistryClient;
  readonly digest: string;
  readonly credentials: Credentials | undefined;
  readonly manifest: ImageManifest;
}

const maxIndexDepth = 3;
const maxTransports = 32;
/** A little less than all the time there is, so that what was waited for can still be said. */
const shareOfTimeout = 0.9;

/**
 * Pulls images from OCI registries: manifest, layers, files. The same image is downloaded once for
 * all who pull it at the same time with the same credentials.
 */
export class ImagePuller {
  readonly #options: ImagePullerOptions;
  readonly #tokens: TokenService;
  readonly #transports = new Map<string, Transport>();
  readonly #downloads = new SharedWork<BundleFiles>();

  constructor(options: ImagePullerOptions) {
    this.#options = options;
    this.#tokens = new TokenService(options.clock);
    // Refuses a wrong list of insecure registries when the process starts, not at the first pull.
    this.#transport(undefined);
  }

  /**
   * @throws WaitingError `Back-off pulling image "<ref>": <cause>` where there is no such image or
   * no registry; TerminalError for a reference that is none, and for bad content of a digest
   */
  async pull(ref: string, options: PullOptions): Promise<PulledImage> {
    const reference = parseImageReference(ref);
    using deadline = this.#deadline(options);
    const pull = { ...options, signal: AbortSignal.any([options.signal, deadline.signal]) };
    let doing = 'fetching image descriptor';
    try {
      const image = await this.#resolve(reference, pull);
      doing = 'unpacking image';
      const files = await this.#download(reference, image, pull);
      return { files, pinnedRef: `${repositoryName(reference)}@${image.digest}` };
    } catch (error) {
      options.signal.throwIfAborted();
      const cause: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
      throw pullError(cause, { ref, doing, pinned: reference.digest !== undefined });
    }
  }

  /** With the first credentials that the registry takes. */
  async #resolve(reference: ImageReference, options: PullOptions): Promise<ResolvedImage> {
    const candidates = options.keychain.credentialsFor(reference);
    let denied: unknown;
    for (const credentials of candidates.length === 0 ? [undefined] : candidates) {
      const client = new RegistryClient(reference, {
        transport: this.#transport(options.caCertificates),
        tokens: this.#tokens,
        credentials,
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
    reference: ImageReference,
    image: ResolvedImage,
    { limits, caCertificates, signal }: PullOptions,
  ): Promise<BundleFiles> {
    const key = JSON.stringify([
      repositoryName(reference),
      image.digest,
      credentialsKey(image.credentials),
      caCertificates ?? '',
      limits,
    ]);
    return await this.#downloads.run(
      key,
      (signal) => downloadLayers(image, { limits, signal }),
      signal,
    );
  }

  /** One for each set of certificates; connections are kept open in it for a while. */
  #transport(caCertificates: string | undefined): Transport {
    const key = caCertificates ?? '';
    const known = this.#transports.get(key);
    if (known !== undefined) return known;
    if (this.#transports.size >= maxTransports) this.#transports.clear();
    const { insecureRegistries, clock, userAgent } = this.#options;
    const transport = new Transport({
      insecureRegistries,
      caCertificates: [this.#options.caCertificates ?? '', key].filter((pem) => pem !== ''),
      userAgent: userAgent ?? 'rukpak-ts',
      clock,
    });
    this.#transports.set(key, transport);
    return transport;
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

async function downloadLayers(
  { client, manifest }: ResolvedImage,
  options: { readonly limits: ContentLimits; readonly signal: AbortSignal },
): Promise<BundleFiles> {
  checkCompressedSize(manifest.layers, options.limits);
  const layers = new LayeredTree(options);
  for (const layer of manifest.layers) {
    const blob = client.blob(layer, options.signal);
    try {
      await layers.apply(blob);
      await blob.verify();
    } catch (error) {
      throw layerError(layer.digest, error);
    } finally {
      blob.close();
    }
  }
  return layers.tree.bundleFiles(options.limits);
}

function checkCompressedSize(layers: readonly Descriptor[], { maxBytes }: ContentLimits): void {
  const size = layers.reduce((sum, layer) => sum + layer.size, 0);
  if (size <= maxBytes) return;
  throw new TerminalError(
    `the image's layers have ${size} bytes, over the limit of ${maxBytes} (--max-content-bytes)`,
  );
}

/** What the reconciler is to do about a failed pull, and say. */
function pullError(
  error: unknown,
  {
    ref,
    doing,
    pinned,
  }: { readonly ref: string; readonly doing: string; readonly pinned: boolean },
): Error {
  const text = errorMessage(error);
  if (error instanceof UnavailableError) {
    return new WaitingError(`Back-off pulling image "${ref}": ${text}`, { cause: error });
  }
  const message = `error ${doing}: ${text}`;
  // What a tag points to can be put right by a push; what a digest names stays as it is.
  return pinned && error instanceof TerminalError
    ? new TerminalError(message, { cause: error })
    : new Error(message, { cause: error });
}
