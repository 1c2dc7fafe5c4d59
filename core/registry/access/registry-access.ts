import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Keychain } from '../configuration/keychain.ts';
import type {
  ImagePlace,
  ImageTarget,
  ManifestContent,
  OpenedTarget,
  OpenTargetOptions,
} from '../configuration/place.ts';
import {
  joinedFailure,
  PullFailure,
  type PullPlace,
  pullPlaces,
} from '../configuration/pull-places.ts';
import { TokenService } from '../http/token-service.ts';
import type { TransportOptions } from '../http/transport.ts';
import { Transports } from '../http/transports.ts';
import { ArchiveTarget } from '../layouts/archive-target.ts';
import { DirectoryTarget } from '../layouts/directory-target.ts';
import { LayoutPlace } from '../layouts/layout-place.ts';
import { RegistryTarget } from '../push/registry-target.ts';
import {
  type ImageReference,
  manifestReference,
  registryHost,
  repositoryName,
} from '../reference.ts';
import { RegistryClient } from '../registry-client.ts';
import { type NamedPlace, parsePlace, refuseDigest } from './named-place.ts';

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

/** How to reach the registries of one image, in addition to the options of the access. */
export interface PullIdentity {
  readonly keychain: Keychain;
  /** PEM certificates of CAs to trust in addition to the shared ones. */
  readonly caCertificates?: string | undefined;
  /**
   * Whether to skip the certificate check, and use plain HTTP if HTTPS fails. It may be a user's
   * wish, and lifts no limit on addresses.
   */
  readonly insecure?: boolean | undefined;
  /** Source of the credentials, for messages. */
  readonly credentialsName?: string | undefined;
}

/** Opens any place that a user names: registries with their mirrors, and OCI layouts. */
export class RegistryAccess {
  readonly #options: RegistryAccessOptions;
  readonly #transports: Transports;
  readonly #tokens: TokenService;

  readonly #identity: PullIdentity;

  /** @param shared the access whose connections and tokens are used, with another identity */
  constructor(
    options: RegistryAccessOptions,
    shared?: { readonly access: RegistryAccess; readonly identity: PullIdentity },
  ) {
    const { keychain, userAgent = 'rukpak-ts', clock } = options;
    this.#options = options;
    if (shared === undefined) {
      this.#identity = { keychain, credentialsName: 'the credentials of the login' };
      this.#transports = new Transports({ ...options, userAgent });
      this.#tokens = new TokenService(clock);
    } else {
      this.#identity = shared.identity;
      this.#transports = shared.access.#transports;
      this.#tokens = shared.access.#tokens;
    }
  }

  /** The same registries with another identity; shares connections and tokens. */
  as(identity: PullIdentity): RegistryAccess {
    return new RegistryAccess(this.#options, { access: this, identity });
  }

  /**
   * Digest of an image at the mirrors of its registry or at the registry, by a HEAD request.
   * @throws UnavailableError for a missing image, DeniedError
   */
  async digest(reference: ImageReference, signal: AbortSignal): Promise<string> {
    return await this.#atAnyPlace(reference, signal, async (place) => {
      const wanted = manifestReference(place.reference);
      return await this.#client(place, 'pull').digest(wanted, signal);
    });
  }

  /**
   * Opens an image at the mirrors of its registry, at the registry, or in a layout. The caller
   * closes its `place`.
   * @throws UnavailableError for a missing image, DeniedError, TerminalError for an invalid image
   */
  async open(named: string | NamedPlace, signal: AbortSignal): Promise<OpenedImage> {
    const place = typeof named === 'string' ? parsePlace(named) : named;
    if (place.kind === 'registry') {
      return await this.read(place.reference, signal, async (image) => image);
    }
    if (place.kind === 'layout' || place.kind === 'archive') {
      return await openLayout(place.kind, place.path, { name: place.name, signal });
    }
    throw new TerminalError(`${place.path} is a ${place.kind} and no OCI layout`);
  }

  /** Reads an image at the first mirror, or its registry, where all of the work succeeds. */
  async read<T>(
    reference: ImageReference,
    signal: AbortSignal,
    work: (image: OpenedImage) => Promise<T>,
  ): Promise<T> {
    const repository = repositoryName(reference);
    return await this.#atAnyPlace(reference, signal, async (place) =>
      work(await this.#openAt(place, repository, signal)),
    );
  }

  /**
   * Opens a place for writing; the caller closes or discards it, as a layout has one writer at a
   * time. Writes to a registry itself, not to its mirrors.
   * @throws TerminalError for a place that cannot be written
   */
  async openTarget(
    named: string | NamedPlace,
    { resume, overwrite = false, isTemporary = false, signal }: OpenTargetOptions = {},
  ): Promise<OpenedTarget> {
    const place = typeof named === 'string' ? parsePlace(named) : named;
    const { clock } = this.#options;
    refuseDigest(place, named);
    if (place.kind === 'registry') {
      return { target: this.repositoryTarget(place.reference), tag: place.reference.tag };
    }
    if (place.kind === 'layout') {
      const { path, name: tag } = place;
      const opened =
        resume === undefined
          ? DirectoryTarget.open(path, { clock, isTemporary })
          : DirectoryTarget.resume(path, clock);
      return { target: await opened, tag };
    }
    if (place.kind === 'archive') {
      const { path, name: tag } = place;
      const opened =
        resume === undefined
          ? ArchiveTarget.open(path, { overwrite, clock })
          : ArchiveTarget.resume(path, { artifact: resume, clock, signal });
      return { target: await opened, tag };
    }
    throw new TerminalError(
      `${place.path} is no OCI layout: name a new one as oci:DIRECTORY or oci-archive:FILE`,
    );
  }

  /** Opens a repository of a registry for writing. */
  repositoryTarget(reference: ImageReference): ImageTarget {
    return new RegistryTarget(this.#client({ reference, insecure: false }, 'pull,push'));
  }

  async #openAt(place: PullPlace, repository: string, signal: AbortSignal): Promise<OpenedImage> {
    const client = this.#client(place, 'pull');
    const manifest = await client.manifest(manifestReference(place.reference), signal);
    const { digest } = manifest;
    await this.#options.verifier?.verify({ repository, digest, client }, signal);
    return { place: client, manifest };
  }

  /** The result of the first place where the work succeeds. */
  async #atAnyPlace<T>(
    reference: ImageReference,
    signal: AbortSignal,
    work: (place: PullPlace) => Promise<T>,
  ): Promise<T> {
    const { registries = { registries: [] } } = this.#options;
    const where = pullPlaces(reference, registries);
    const failures: PullFailure[] = [];
    for (const place of where.places) {
      try {
        return await work(place);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(new PullFailure('fetching image descriptor', error));
      }
    }
    throw joinedFailure(failures, where, this.#identity.keychain).error;
  }

  #client({ reference, insecure }: PullPlace, actions: 'pull' | 'pull,push'): RegistryClient {
    const {
      keychain,
      caCertificates,
      credentialsName,
      insecure: skipsCheck = false,
    } = this.#identity;
    const uncheckedHost = insecure || skipsCheck ? registryHost(reference.domain) : undefined;
    return new RegistryClient(reference, {
      transport: this.#transports.get({ caCertificates, uncheckedHost, isChosen: insecure }),
      tokens: this.#tokens,
      credentials: keychain.credentialsFor(reference),
      credentialsName,
      actions,
      clock: this.#options.clock,
    });
  }
}

/** Opens an image in an OCI layout: the one of a tag or digest, or the only one. */
export async function openLayout(
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
