import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AddressPolicy, ProxyConfig } from '../../platform/net/index.ts';
import {
  type Credentials,
  DeniedError,
  type ImageManifest,
  type ImageReference,
  type Keychain,
  manifestReference,
  nodePlatform,
  type Platform,
  type PullPlace,
  parseManifest,
  type RegistriesConfig,
  type RegistryCertificates,
  RegistryClient,
  registryHost,
  TokenService,
  Transports,
} from '../../registry/index.ts';

export interface ImageResolverOptions {
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
  /** The manifest to take from an index (default: Linux on this process's architecture). */
  readonly platform?: Platform | undefined;
  readonly userAgent?: string | undefined;
  readonly clock: Clock;
}

interface ResolveOptions {
  readonly keychain: Keychain;
  /** PEM certificates of trusted CAs for this pull only. */
  readonly caCertificates?: string | undefined;
  readonly signal: AbortSignal;
}

export interface ResolvedImage {
  readonly client: RegistryClient;
  readonly digest: string;
  readonly credentials: Credentials | undefined;
  readonly manifest: ImageManifest;
}

const maxIndexDepth = 3;

/** Finds the manifest of an image in one place. */
export class ImageResolver {
  readonly #options: ImageResolverOptions;
  readonly #tokens: TokenService;
  readonly #transports: Transports;

  constructor(options: ImageResolverOptions) {
    const { caCertificates, userAgent = 'rukpak-ts' } = options;
    this.#options = options;
    this.#tokens = new TokenService(options.clock);
    this.#transports = new Transports({
      ...options,
      caCertificates: caCertificates === undefined ? [] : [caCertificates],
      userAgent,
    });
  }

  /** Uses the first credentials that the registry accepts. */
  async resolve(place: PullPlace, options: ResolveOptions): Promise<ResolvedImage> {
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
}
