import { TerminalError } from '../errors.ts';
import type { Clock } from '../platform/clock.ts';
import { resumedDownload, VerifiedBlob, watched } from './blob.ts';
import type { ImagePlace, ManifestContent } from './configuration/place.ts';
import { RepositoryRequests, type RepositoryRequestsOptions } from './http/repository-requests.ts';
import { discard, nextPage, statusText, type TransportResponse } from './http/response.ts';
import type { TransportRequest } from './http/transport.ts';
import { type Descriptor, manifestMediaTypes } from './manifest.ts';
import { manifestParts } from './manifest-parts.ts';
import {
  digestAlgorithm,
  digestOf,
  digestProblem,
  type ImageReference,
  repositoryName,
} from './reference.ts';
import { indexOf, referrerLimits } from './referrers.ts';
import {
  connectionError,
  MismatchError,
  MissingError,
  RefusedRequest,
  UnavailableError,
} from './registry-errors.ts';

interface RegistryClientOptions extends RepositoryRequestsOptions {
  readonly clock: Clock;
}

/** Maximum bytes of a manifest that registries accept (distribution spec). */
const maxManifestSize = 4 * 1024 * 1024;

/** Client of one repository (OCI distribution spec); verifies all content with a digest. */
export class RegistryClient implements ImagePlace {
  readonly #repository: ImageReference;
  readonly #requests: RepositoryRequests;
  readonly clock: Clock;

  constructor(repository: ImageReference, options: RegistryClientOptions) {
    this.#repository = repository;
    this.#requests = new RepositoryRequests(repository, options);
    this.clock = options.clock;
  }

  get name(): string {
    return repositoryName(this.#repository);
  }

  /** Host of the registry, as references name it. */
  get domain(): string {
    return this.#repository.domain;
  }

  /**
   * The manifest of a tag or digest.
   * @throws MissingError if it does not exist
   */
  async manifest(reference: string, signal: AbortSignal): Promise<ManifestContent> {
    const manifest = await this.findManifest(reference, signal);
    if (manifest !== undefined) return manifest;
    const { domain, path } = this.#repository;
    throw new MissingError(`registry ${domain} has no "${reference}" in repository ${path}`);
  }

  /** The manifest of a tag or digest; undefined if the registry reports that it does not exist. */
  async findManifest(reference: string, signal: AbortSignal): Promise<ManifestContent | undefined> {
    const headers = { accept: manifestMediaTypes.join(', ') };
    const response = await this.request(`manifests/${reference}`, { headers, signal });
    if (response.status === 404) {
      await discard(response);
      return undefined;
    }
    await this.#checkStatus(response, 200);
    const bytes = await this.#readManifest(response, signal);
    const expected = expectedDigest(reference, response.headers['docker-content-digest']);
    const digest = digestOf(bytes, digestAlgorithm(expected ?? 'sha256:'));
    if (expected !== undefined && expected !== digest) {
      throw new MismatchError(`the manifest has the digest ${digest} instead of ${expected}`);
    }
    return { bytes, digest, contentType: contentType(response) };
  }

  async findDigest(reference: string, signal: AbortSignal): Promise<string | undefined> {
    const headers = { accept: manifestMediaTypes.join(', ') };
    const wanted = { method: 'HEAD', headers, signal } as const;
    const response = await this.request(`manifests/${reference}`, wanted);
    await discard(response);
    if (response.status === 404) return undefined;
    const stated = response.headers['docker-content-digest'];
    const isStated = typeof stated === 'string' && digestProblem(stated) === undefined;
    if (response.status === 200 && isStated) return stated;
    return (await this.findManifest(reference, signal))?.digest;
  }

  /**
   * Current digest of a tag or digest, by a HEAD request.
   * @throws MissingError if it does not exist
   */
  async digest(reference: string, signal: AbortSignal): Promise<string> {
    const digest = await this.findDigest(reference, signal);
    if (digest !== undefined) return digest;
    const { domain, path } = this.#repository;
    const url = this.#requests.urlOf(`manifests/${reference}`);
    throw new MissingError(`registry ${domain} has no "${reference}" in repository ${path}`, {
      cause: new RefusedRequest('HEAD', url.href, statusText(404)),
    });
  }

  /**
   * Index of the manifests whose subject is this digest, of all its pages; undefined if the registry
   * keeps none.
   */
  async findReferrers(digest: string, signal: AbortSignal): Promise<ManifestContent | undefined> {
    const headers = { accept: manifestMediaTypes.join(', ') };
    const pages: ManifestContent[] = [];
    let size = 0;
    for (let path: string | undefined = `referrers/${digest}`; path !== undefined; ) {
      const response: TransportResponse = await this.request(path, { headers, signal });
      // Registries older than the API answer in several ways, but never with 200.
      const isOld = response.status !== 200 && pages.length === 0;
      if (isOld || response.status !== 200 || pages.length === referrerLimits.pages) {
        await discard(response);
        if (isOld) return undefined;
        throw this.#unlisted(pageProblem(response, pages.length), digest);
      }
      const bytes = await this.#readManifest(response, signal);
      size += bytes.byteLength;
      if (size > referrerLimits.mebibytes * 1024 * 1024) {
        throw this.#unlisted(`has more than ${referrerLimits.mebibytes} MiB of`, digest);
      }
      pages.push({ bytes, digest: digestOf(bytes), contentType: contentType(response) });
      path = nextPage(response);
    }
    const [first, ...others] = pages;
    return others.length === 0 ? first : this.#joined(pages, digest);
  }

  /** A blob's bytes as they arrive; resumes after a lost connection. */
  blob(descriptor: Descriptor, signal: AbortSignal): VerifiedBlob {
    const open = (offset: number) => this.#openBlob(descriptor, { offset, signal });
    return new VerifiedBlob(
      resumedDownload(open, {
        size: descriptor.size,
        clock: this.clock,
        signal,
      }),
      descriptor,
    );
  }

  /** Does nothing: the connections belong to the transport, which other clients share. */
  async close(): Promise<void> {}

  async #openBlob(
    { digest, size }: Descriptor,
    { offset, signal }: { readonly offset: number; readonly signal: AbortSignal },
  ): Promise<TransportResponse> {
    const headers: Record<string, string> = offset === 0 ? {} : { range: `bytes=${offset}-` };
    const response = await this.request(`blobs/${digest}`, { headers, signal });
    if (response.status !== 206 || offset === 0) await this.#checkStatus(response, 200, digest);
    else await checkRange(response, offset);
    const stated = response.headers['content-length'];
    if (response.status === 200 && stated !== undefined && Number(stated) !== size) {
      await discard(response);
      throw new MismatchError(
        `blob ${digest} has ${String(stated)} bytes instead of the ${size} that its manifest names`,
      );
    }
    return response;
  }

  /**
   * Sends one request with the authentication that the registry requires; the caller reads or
   * discards the answer. `path` is relative to the repository, or a URL from the registry.
   * @throws DeniedError if the registry requires other credentials
   */
  async request(path: string, wanted: TransportRequest): Promise<TransportResponse> {
    return await this.#requests.send(path, wanted);
  }

  async #checkStatus(response: TransportResponse, wanted: number, digest?: string): Promise<void> {
    if (response.status === wanted) return;
    await discard(response);
    const { domain, path } = this.#repository;
    const what = digest === undefined ? ' for the manifest' : ` for blob ${digest}`;
    throw new Error(
      `registry ${domain} answered ${statusText(response.status)}${what} in repository ${path}`,
    );
  }

  #unlisted(problem: string, digest: string): UnavailableError {
    return new UnavailableError(`registry ${this.domain} ${problem} referrers of ${digest}`);
  }

  #joined(pages: readonly ManifestContent[], digest: string): ManifestContent {
    try {
      return indexOf(pages.flatMap((page) => manifestParts(page).manifests));
    } catch (error) {
      const problem = `registry ${this.domain} has an unreadable page of the referrers of ${digest}`;
      throw new UnavailableError(problem, { cause: error });
    }
  }

  async #readManifest(response: TransportResponse, signal: AbortSignal): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of watched(response, this.clock)) {
        size += chunk.byteLength;
        chunks.push(chunk);
        if (size > maxManifestSize) break;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw connectionError(response.url.host, error);
    }
    if (size > maxManifestSize) {
      throw new TerminalError(`the manifest is larger than ${maxManifestSize} bytes`);
    }
    return Buffer.concat(chunks);
  }
}

function pageProblem({ status }: TransportResponse, read: number): string {
  if (status === 200) return `has more than ${referrerLimits.pages} pages of`;
  return `answered ${statusText(status)} for page ${read + 1} of the`;
}

/** Digest that the manifest must have: of the reference, else of the registry's header. */
function expectedDigest(
  reference: string,
  stated: string | string[] | undefined,
): string | undefined {
  if (reference.includes(':')) return reference;
  return typeof stated === 'string' && digestProblem(stated) === undefined ? stated : undefined;
}

function contentType({ headers }: TransportResponse): string {
  const type = headers['content-type'];
  return typeof type === 'string' ? type : '';
}

async function checkRange(response: TransportResponse, offset: number): Promise<void> {
  const range = response.headers['content-range'];
  if (typeof range === 'string' && range.startsWith(`bytes ${offset}-`)) return;
  await discard(response);
  throw new UnavailableError('registry answered with another range than it was asked for');
}
