import { TerminalError } from '../../errors.ts';
import type {
  BlobToPush,
  ImagePlace,
  ImageTarget,
  ManifestContent,
  ManifestToPush,
  PushOutcome,
  Referrer,
} from '../configuration/place.ts';
import { discard } from '../http/response.ts';
import type { Descriptor, TypedDescriptor } from '../manifest.ts';
import { manifestParts } from '../manifest-parts.ts';
import { digestOf } from '../reference.ts';
import { fallbackTag, indexOf, referrerDescriptor, referrersOf } from '../referrers.ts';
import type { RegistryClient } from '../registry-client.ts';
import { DeniedError } from '../registry-errors.ts';
import { BlobUpload } from './blob-upload.ts';
import { refusedPush } from './refused-push.ts';

/** Writes a repository of a registry (OCI distribution spec, push). */
export class RegistryTarget implements ImageTarget {
  readonly mayLackBlobs = false;
  readonly #client: RegistryClient;

  /** @param client must request tokens for pull and push */
  constructor(client: RegistryClient) {
    this.#client = client;
  }

  get name(): string {
    return this.#client.name;
  }

  get place(): ImagePlace {
    return this.#client;
  }

  async findDigest(reference: string, signal: AbortSignal): Promise<string | undefined> {
    return await this.#client.findDigest(reference, signal);
  }

  async hasBlob({ digest }: Descriptor, signal: AbortSignal): Promise<boolean> {
    const response = await this.#client.request(`blobs/${digest}`, { method: 'HEAD', signal });
    await discard(response);
    return response.status === 200;
  }

  async pushBlob(blob: BlobToPush, signal: AbortSignal): Promise<PushOutcome> {
    if (await this.hasBlob(blob.descriptor, signal)) return 'present';
    return await new BlobUpload(this.#client, blob, signal).run();
  }

  async pushManifest(manifest: ManifestToPush, signal: AbortSignal): Promise<TypedDescriptor> {
    const { bytes, mediaType, tag } = manifest;
    const digest = digestOf(bytes);
    const hasReferrers = await this.#put(manifest, tag ?? digest, signal);
    const content = { bytes, digest, contentType: mediaType };
    const { subject } = manifestParts(content);
    // Registries that have the referrers API name the subject in their answer.
    if (subject !== undefined && !hasReferrers) await this.#addReferrer(subject, content, signal);
    return { mediaType, digest, size: bytes.byteLength };
  }

  async hasReferrer({ digest, subject }: Referrer, signal: AbortSignal): Promise<boolean> {
    try {
      const found = await referrersOf(this.#client, subject, { signal });
      return found.some((each) => each.digest === digest);
    } catch (error) {
      // Some registries deny access to missing content: there it is not to be listed either.
      if (error instanceof DeniedError) return true;
      throw error;
    }
  }

  async tag(digest: string, tag: string, signal: AbortSignal): Promise<void> {
    const { bytes, contentType } = await this.#client.manifest(digest, signal);
    await this.#put({ bytes, mediaType: contentType }, tag, signal);
  }

  async close(): Promise<void> {}

  async discard(): Promise<void> {}

  /** Puts a manifest; returns whether the registry has recorded the manifest's subject. */
  async #put(
    { bytes, mediaType }: ManifestToPush,
    reference: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const response = await this.#client.request(`manifests/${reference}`, {
      method: 'PUT',
      headers: { 'content-type': mediaType },
      body: bytes,
      signal,
    });
    if (response.status !== 201) {
      throw await refusedPush(response, `manifest ${reference} for ${this.name}`);
    }
    await discard(response);
    const stated = response.headers['docker-content-digest'];
    const digest = digestOf(bytes);
    if (typeof stated === 'string' && stated.startsWith('sha256:') && stated !== digest) {
      throw new TerminalError(
        `registry ${this.#client.domain} took manifest ${digest} for one with the digest ${stated}`,
      );
    }
    return response.headers['oci-subject'] !== undefined;
  }

  async #addReferrer(
    subject: Descriptor,
    manifest: ManifestContent,
    signal: AbortSignal,
  ): Promise<void> {
    const tag = fallbackTag(subject.digest);
    const known = await this.#client.findManifest(tag, signal);
    const others = known === undefined ? [] : manifestParts(known).manifests;
    if (others.some(({ digest }) => digest === manifest.digest)) return;
    const { bytes, contentType } = indexOf([...others, referrerDescriptor(manifest)]);
    await this.#put({ bytes, mediaType: contentType }, tag, signal);
  }
}
