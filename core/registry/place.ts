import type { VerifiedBlob } from './blob.ts';
import type { Descriptor, TypedDescriptor } from './manifest.ts';

/** A manifest's own bytes, which have the digest. */
export interface ManifestContent {
  readonly bytes: Uint8Array;
  readonly digest: string;
  readonly contentType: string;
}

/**
 * A repository of images to read: one of a registry, or an OCI layout, which is a directory or a tar.
 * What is read and has a digest is verified. A reference is a tag or a digest.
 */
export interface ImagePlace {
  /** As messages name it: `quay.io/org/app`, `oci:./catalog`. */
  readonly name: string;
  /**
   * The manifest of a reference.
   * @throws UnavailableError where there is none
   */
  manifest(reference: string, signal: AbortSignal): Promise<ManifestContent>;
  /** The manifest of a reference; undefined where the place says that there is none. */
  findManifest(reference: string, signal: AbortSignal): Promise<ManifestContent | undefined>;
  /** The digest that a reference has now, without its manifest; undefined where there is none. */
  findDigest(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /** An index of the manifests whose subject is a digest; undefined where the place keeps none. */
  findReferrers(digest: string, signal: AbortSignal): Promise<ManifestContent | undefined>;
  /** A blob's bytes as they come; the reader calls `verify` at the end, or `close`. */
  blob(descriptor: Descriptor, signal: AbortSignal): VerifiedBlob;
  /** Lets go of files; an opened place needs it, and nothing is read from it afterwards. */
  close(): Promise<void>;
}

/** What a push of a blob came to: `present` and `mounted` sent nothing of it. */
export type PushOutcome = 'present' | 'mounted' | 'pushed';

export interface BlobToPush {
  readonly descriptor: Descriptor;
  /**
   * The bytes from the beginning, each time it is called: a lost upload is begun again. It throws
   * where they are not what the descriptor says.
   */
  open(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Path of a repository of the same registry that may have the blob, which then is not sent. */
  readonly mountFrom?: string | undefined;
}

export interface ManifestToPush {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly tag?: string | undefined;
  /** Part of an index that is pushed after it: a layout does not list it by itself. */
  readonly isPart?: boolean | undefined;
}

/**
 * A repository of images to write. What a manifest names is pushed before it. Nothing is sent twice.
 */
export interface ImageTarget {
  /** As messages name it. */
  readonly name: string;
  /** The digest that a tag or digest has there; undefined where there is none. */
  findDigest(reference: string, signal: AbortSignal): Promise<string | undefined>;
  hasBlob(descriptor: Descriptor, signal: AbortSignal): Promise<boolean>;
  /** @throws TerminalError where the content is not what the descriptor says */
  pushBlob(blob: BlobToPush, signal: AbortSignal): Promise<PushOutcome>;
  /**
   * Under its digest, and its tag where it has one. A manifest with a subject becomes one of the
   * subject's referrers.
   */
  pushManifest(manifest: ManifestToPush, signal: AbortSignal): Promise<TypedDescriptor>;
  /** Gives a manifest that is there another tag. */
  tag(digest: string, tag: string, signal: AbortSignal): Promise<void>;
  /** Ends the writing: an archive is there, and whole, from here on. */
  close(): Promise<void>;
  /** Gives up: an archive is not made; elsewhere what was pushed stays. */
  discard(): Promise<void>;
}
