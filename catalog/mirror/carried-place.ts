import { errorMessage, TerminalError } from '../../core/errors.ts';
import {
  DeniedError,
  type Descriptor,
  type ImagePlace,
  type ImageTarget,
  type ManifestContent,
  VerifiedBlob,
} from '../../core/registry/index.ts';

/** A directory or tar that carries images. */
export interface CarriedPlace {
  readonly kind: 'layout' | 'archive';
  readonly path: string;
}

export function carriedPlace(path: string): CarriedPlace {
  return { kind: path.endsWith('.tar') ? 'archive' : 'layout', path };
}

/** Whether a target is a directory or tar, not a registry. */
export function isCarriedPlace(target: string): boolean {
  return /^[./~]/.test(target) || target.endsWith('.tar');
}

/** What the registry has of earlier runs. */
interface EarlierContent {
  /** Paths of repositories, by the digest of what they have. */
  readonly paths: ReadonlyMap<string, string>;
  readonly targets: (path: string) => { readonly target: ImageTarget };
}

/** What a directory or tar has, with the blobs that it has left out because they were carried before. */
export class CompletedPlace implements ImagePlace {
  readonly #place: ImagePlace;
  readonly #earlier: EarlierContent;

  constructor(place: ImagePlace, earlier: EarlierContent) {
    this.#place = place;
    this.#earlier = earlier;
  }

  get name(): string {
    return this.#place.name;
  }

  async manifest(reference: string, signal: AbortSignal): Promise<ManifestContent> {
    return await this.#place.manifest(reference, signal);
  }

  async findManifest(reference: string, signal: AbortSignal): Promise<ManifestContent | undefined> {
    return await this.#place.findManifest(reference, signal);
  }

  async findDigest(reference: string, signal: AbortSignal): Promise<string | undefined> {
    return await this.#place.findDigest(reference, signal);
  }

  async findReferrers(
    ...search: Parameters<ImagePlace['findReferrers']>
  ): Promise<ManifestContent | undefined> {
    return await this.#place.findReferrers(...search);
  }

  blob(descriptor: Descriptor, signal: AbortSignal): VerifiedBlob {
    return new VerifiedBlob(this.#bytes(descriptor, signal), descriptor);
  }

  async close(): Promise<void> {
    await this.#place.close();
  }

  async *#bytes(descriptor: Descriptor, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const place = await this.#placeOf(descriptor, signal);
    const blob = place.blob(descriptor, signal);
    try {
      yield* blob;
    } finally {
      blob.close();
    }
  }

  async #placeOf(descriptor: Descriptor, signal: AbortSignal): Promise<ImagePlace> {
    const { paths, targets } = this.#earlier;
    const path = paths.get(descriptor.digest);
    if (path === undefined) return this.#place;
    const isHere = (await this.#place.findDigest(descriptor.digest, signal)) !== undefined;
    if (isHere) return this.#place;
    const { target } = targets(path);
    const isThere = await target.hasBlob(descriptor, signal).catch((error: unknown) => {
      // Amid a request, another error than a final one would be one of its connection.
      if (!(error instanceof DeniedError)) throw error;
      throw new TerminalError(errorMessage(error), { cause: error });
    });
    return isThere ? target.place : this.#place;
  }
}
