import { platformManifest } from '../../../catalog/images/index.ts';
import {
  errorMessage,
  type Logger,
  type SecretReader,
  withDeadline,
} from '../../../core/controller.ts';
import {
  blobBytes,
  type ImageReference,
  type ImageTarget,
  isMissing,
  manifestParts,
  type OpenedImage,
  parseImageReference,
  RefusedRequest,
  type RegistryAccess,
  readPullSecret,
  repositoryName,
} from '../../../core/registry/index.ts';
import { CatalogFailure } from './catalog-failure.ts';

/** An image of a catalog, and how to reach it. */
export interface ImageRequest {
  readonly ref: string;
  readonly pullSecret: string | undefined;
  readonly insecureSkipTLSVerify: boolean;
}

/** Maximum milliseconds that a registry has, with its token server and mirrors. */
export interface CatalogTimeouts {
  /** To name the digest of a tag. */
  readonly resolve: number;
  /** To send an image. */
  readonly download: number;
}

interface CatalogImagesOptions {
  readonly registry: RegistryAccess;
  /** Of the system namespace. */
  readonly secrets: SecretReader;
  /** Maximum bytes of all layers of an image, compressed. */
  readonly maxBytes: number;
  readonly timeouts: CatalogTimeouts;
  readonly logger: Logger;
}

/** Resolves and downloads images of catalogs. Throws only CatalogFailures and reasons of signals. */
export class CatalogImages {
  readonly #options: CatalogImagesOptions;

  constructor(options: CatalogImagesOptions) {
    this.#options = options;
  }

  /** `<repository>@<digest>` of an image; for a tag, by one HEAD request. */
  async resolve(request: ImageRequest, signal: AbortSignal): Promise<string> {
    const reference = parsed(request.ref);
    const digest = reference.digest ?? (await this.#digest(reference, request, signal));
    return `${repositoryName(reference)}@${digest}`;
  }

  /**
   * Writes an image into an OCI layout in a new temporary directory, without holding its layers in
   * memory.
   */
  async download(
    resolvedRef: string,
    {
      request,
      directory,
      signal,
    }: { request: ImageRequest; directory: string; signal: AbortSignal },
  ): Promise<void> {
    const registry = await this.#registry(request, signal);
    try {
      const reference = parsed(resolvedRef);
      await within(this.#options.timeouts.download, signal, (timed) =>
        registry.read(reference, timed, async (image) => {
          const place = { kind: 'layout', path: directory } as const;
          const { target } = await registry.openTarget(place, { isTemporary: true });
          try {
            await this.#copy(image, target, timed);
          } finally {
            await target.close();
          }
        }),
      );
    } catch (error) {
      signal.throwIfAborted();
      const message = `error fetching remote image "${request.ref}": ${textOf(error)}`;
      throw new CatalogFailure('image', message, { cause: error, isMissing: isMissing(error) });
    }
  }

  async #copy(image: OpenedImage, target: ImageTarget, signal: AbortSignal): Promise<void> {
    const { content, manifest } = await platformManifest(image, signal);
    const blobs = [manifest.config, ...manifest.layers];
    this.#checkSize(blobs);
    for (const descriptor of new Map(blobs.map((blob) => [blob.digest, blob])).values()) {
      const open = () => blobBytes(image.place, descriptor, signal);
      await target.pushBlob({ descriptor, open }, signal);
    }
    const { mediaType } = manifestParts(content);
    await target.pushManifest({ bytes: content.bytes, mediaType }, signal);
  }

  #checkSize(blobs: readonly { readonly size: number }[]): void {
    const { maxBytes } = this.#options;
    const size = blobs.reduce((sum, blob) => sum + blob.size, 0);
    if (size <= maxBytes) return;
    throw new Error(`the image has ${size} bytes, over the limit of ${maxBytes}`);
  }

  async #digest(
    reference: ImageReference,
    request: ImageRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const registry = await this.#registry(request, signal);
    try {
      return await within(this.#options.timeouts.resolve, signal, (timed) =>
        registry.digest(reference, timed),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw new CatalogFailure('descriptor', textOf(error), { cause: error });
    }
  }

  async #registry(
    { pullSecret, insecureSkipTLSVerify: insecure }: ImageRequest,
    signal: AbortSignal,
  ): Promise<RegistryAccess> {
    const { registry, secrets, logger } = this.#options;
    try {
      const { keychain, caCertificates } = await readPullSecret(pullSecret, secrets, signal);
      const { shortcoming } = keychain;
      if (shortcoming !== undefined) logger.info({ pullSecret }, shortcoming);
      const credentialsName = `pull secret "${pullSecret ?? ''}"`;
      return registry.as({ keychain, caCertificates, insecure, credentialsName });
    } catch (error) {
      signal.throwIfAborted();
      throw new CatalogFailure('keychain', errorMessage(error), { cause: error });
    }
  }
}

/** Each byte that a server sends starts its idle timeout anew. */
async function within<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeoutError = () => new Error(`not complete within the limit of ${ms / 1000} s`);
  return await withDeadline({ ms, signal, timeoutError }, work);
}

function parsed(ref: string): ImageReference {
  try {
    return parseImageReference(ref);
  } catch (error) {
    throw new CatalogFailure('reference', `could not parse reference: ${ref}`, {
      cause: error,
      isFinal: true,
    });
  }
}

/** OLM's conditions quote the refused request. What is known besides, follows it. */
function textOf(error: unknown): string {
  const text = errorMessage(error).replace(/^error fetching image descriptor: /, '');
  const { cause } = error instanceof Error ? error : {};
  const [only, ...others]: unknown[] = cause instanceof AggregateError ? cause.errors : [error];
  const { cause: refused } = only instanceof Error ? only : {};
  if (!(refused instanceof RefusedRequest) || others.length > 0) return text;
  return text.replace(errorMessage(only), () => refused.message);
}
