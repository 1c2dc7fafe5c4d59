import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Credentials, Keychain } from '../keychain.ts';
import { ArchiveTarget } from '../layouts/archive-target.ts';
import { DirectoryTarget } from '../layouts/directory-target.ts';
import { LayoutPlace } from '../layouts/layout-place.ts';
import type { ImagePlace, ImageTarget, ManifestContent } from '../place.ts';
import { joinedFailure, PullFailure, type PullPlace, pullPlaces } from '../pull-places.ts';
import { RegistryTarget } from '../push/registry-target.ts';
import {
  type ImageReference,
  manifestReference,
  registryHost,
  repositoryName,
} from '../reference.ts';
import { RegistryClient } from '../registry-client.ts';
import { DeniedError } from '../registry-errors.ts';
import { TokenService } from '../token-service.ts';
import { type TransportOptions, Transports } from '../transport.ts';
import { type NamedPlace, parsePlace } from './named-place.ts';

/** Rejects images of registries before their blobs are downloaded. */
export interface ImageVerifier {
  /** @throws Error for an image that must not be used */
  verify(image: ImageToVerify, signal: AbortSignal): Promise<void>;
}

export interface ImageToVerify {
  /** `<domain>/<path>` of the requested image, even if a mirror provides it. */
  readonly repository: string;
  /** Digest of the manifest or index that the reference names. */
  readonly digest: string;
  /** Client of the registry or mirror that provides the image. */
  readonly client: RegistryClient;
}

/** Registry options from a command's flags. */
export interface RegistryAccessOptions
  extends Omit<TransportOptions, 'uncheckedHost' | 'userAgent' | 'clock'> {
  readonly keychain: Keychain;
  /** Defaults to accepting all images. */
  readonly verifier?: ImageVerifier | undefined;
  readonly userAgent?: string | undefined;
  readonly clock: Clock;
}

/** An image: its manifest or index, and the place of its other content. */
export interface OpenedImage {
  readonly place: ImagePlace;
  readonly manifest: ManifestContent;
}

interface FoundImage {
  readonly client: RegistryClient;
  readonly manifest: ManifestContent;
}

/** A place to write an image to, and the tag in its name. */
export interface OpenedTarget {
  readonly target: ImageTarget;
  readonly tag: string | undefined;
}

export interface OpenTargetOptions {
  /**
   * Continues a layout of an earlier run, whether finished, interrupted or discarded; the layout
   * must have no other writer. By default an archive is created anew.
   */
  readonly resume?: boolean;
}

/** Opens any place that a user names: registries with their mirrors, and OCI layouts. */
export class RegistryAccess {
  readonly #options: RegistryAccessOptions;
  readonly #transports: Transports;
  readonly #tokens: TokenService;

  constructor(options: RegistryAccessOptions) {
    this.#options = options;
    this.#transports = new Transports({
      ...options,
      userAgent: options.userAgent ?? 'rukpak-ts',
    });
    this.#tokens = new TokenService(options.clock);
  }

  /**
   * Opens an image at the mirrors of its registry, at the registry, or in a layout. The caller
   * closes its `place`.
   * @throws UnavailableError for a missing image, DeniedError, TerminalError for an invalid image
   */
  async open(named: string | NamedPlace, signal: AbortSignal): Promise<OpenedImage> {
    const place = typeof named === 'string' ? parsePlace(named) : named;
    if (place.kind === 'registry') return await this.#fromRegistry(place.reference, signal);
    if (place.kind === 'layout' || place.kind === 'archive') {
      return await openLayout(place.kind, place.path, { name: place.name, signal });
    }
    throw new TerminalError(`${place.path} is a ${place.kind} and no OCI layout`);
  }

  /**
   * Opens a place for writing; the caller closes or discards it. Writes to a registry itself, not
   * to its mirrors.
   * @throws TerminalError for a place that cannot be written
   */
  async openTarget(
    named: string | NamedPlace,
    { resume = false }: OpenTargetOptions = {},
  ): Promise<OpenedTarget> {
    const place = typeof named === 'string' ? parsePlace(named) : named;
    if (place.kind === 'registry') {
      return { target: this.repositoryTarget(place.reference), tag: place.reference.tag };
    }
    if (place.kind === 'layout') {
      const { path, name: tag } = place;
      return { target: await DirectoryTarget[resume ? 'resume' : 'open'](path), tag };
    }
    if (place.kind === 'archive') {
      const { path, name: tag } = place;
      return { target: await ArchiveTarget[resume ? 'resume' : 'open'](path), tag };
    }
    throw new TerminalError(
      `${place.path} is no OCI layout: name a new one as oci:DIRECTORY or oci-archive:FILE`,
    );
  }

  /** Opens a repository of a registry for writing. */
  repositoryTarget(reference: ImageReference): ImageTarget {
    const [credentials] = this.#options.keychain.credentialsFor(reference);
    const client = this.#client({ reference, insecure: false }, credentials, 'pull,push');
    return new RegistryTarget(client);
  }

  async #fromRegistry(reference: ImageReference, signal: AbortSignal): Promise<OpenedImage> {
    const { registries = { registries: [] }, keychain, verifier } = this.#options;
    const where = pullPlaces(reference, registries);
    const failures: PullFailure[] = [];
    for (const place of where.places) {
      let doing: PullFailure['doing'] = 'fetching image descriptor';
      try {
        const { client, manifest } = await this.#openAt(place, signal);
        const { digest } = manifest;
        doing = 'verifying image signature';
        await verifier?.verify({ repository: repositoryName(reference), digest, client }, signal);
        return { place: client, manifest };
      } catch (error) {
        signal.throwIfAborted();
        failures.push(new PullFailure(doing, error));
      }
    }
    throw joinedFailure(failures, where, keychain).error;
  }

  /** Uses the first credentials that the registry accepts. */
  async #openAt(place: PullPlace, signal: AbortSignal): Promise<FoundImage> {
    const { reference } = place;
    const candidates = this.#options.keychain.credentialsFor(reference);
    let denied: unknown;
    for (const credentials of candidates.length === 0 ? [undefined] : candidates) {
      const client = this.#client(place, credentials, 'pull');
      try {
        return { client, manifest: await client.manifest(manifestReference(reference), signal) };
      } catch (error) {
        if (!(error instanceof DeniedError)) throw error;
        denied ??= error;
      }
    }
    throw denied;
  }

  #client(
    { reference, insecure }: PullPlace,
    credentials: Credentials | undefined,
    actions: 'pull' | 'pull,push',
  ): RegistryClient {
    const uncheckedHost = insecure ? registryHost(reference.domain) : undefined;
    return new RegistryClient(reference, {
      transport: this.#transports.get({ uncheckedHost }),
      tokens: this.#tokens,
      credentials,
      credentialsName: 'the credentials of the login',
      actions,
      clock: this.#options.clock,
    });
  }
}

async function openLayout(
  kind: 'layout' | 'archive',
  path: string,
  { name, signal }: { readonly name: string | undefined; readonly signal: AbortSignal },
): Promise<OpenedImage> {
  const place =
    kind === 'layout' ? await LayoutPlace.openDirectory(path) : await LayoutPlace.openArchive(path);
  try {
    return { place, manifest: await place.manifest(name ?? place.onlyImage(), signal) };
  } catch (error) {
    await place.close();
    throw error;
  }
}
