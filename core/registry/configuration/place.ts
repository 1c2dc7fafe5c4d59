import type { VerifiedBlob } from '../blob.ts';
import type { Descriptor, TypedDescriptor } from '../manifest.ts';

/** A manifest's original bytes, which have the digest. */
export interface ManifestContent {
  readonly bytes: Uint8Array;
  readonly digest: string;
  readonly contentType: string;
}

/**
 * A readable repository of images: in a registry, or an OCI layout as a directory or tar. Verifies
 * all content with a digest. A reference is a tag or a digest.
 */
export interface ImagePlace {
  /** Name for messages, such as `quay.io/org/app` or `oci:./catalog`. */
  readonly name: string;
  /**
   * The manifest of a reference.
   * @throws UnavailableError if it does not exist
   */
  manifest(reference: string, signal: AbortSignal): Promise<ManifestContent>;
  /** The manifest of a reference; undefined if the place reports that it does not exist. */
  findManifest(reference: string, signal: AbortSignal): Promise<ManifestContent | undefined>;
  /** Current digest of a reference, without its manifest; undefined if it does not exist. */
  findDigest(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Index of the manifests whose subject is this digest; undefined if the place keeps none.
   * @param isOther whether a manifest that cannot be read has another subject, or none (default: no)
   */
  findReferrers(
    digest: string,
    signal: AbortSignal,
    isOther?: (digest: string) => boolean,
  ): Promise<ManifestContent | undefined>;
  /** A blob's bytes as they arrive; the reader calls `verify` at the end, or `close`. */
  blob(descriptor: Descriptor, signal: AbortSignal): VerifiedBlob;
  /** Closes open files. Required for each opened place; reads are impossible afterwards. */
  close(): Promise<void>;
}

/** Result of a push of a blob: for `present` and `mounted`, no bytes were sent. */
export type PushOutcome = 'present' | 'mounted' | 'pushed';

export interface BlobToPush {
  readonly descriptor: Descriptor;
  /**
   * Bytes from the start, at each call, because a lost upload restarts. Throws if they do not match
   * the descriptor.
   */
  open(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /**
   * Path of a repository of the same registry from which the blob may be mounted instead of sent.
   */
  readonly mountFrom?: string | undefined;
}

export interface ManifestToPush {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly tag?: string | undefined;
  /**
   * Whether it belongs to an index that is pushed after it: a layout does not list it separately.
   */
  readonly isPart?: boolean | undefined;
}

/** A manifest and its subject, by their digests. */
export interface Referrer {
  readonly digest: string;
  readonly subject: string;
}

/**
 * A writable repository of images. Callers push the content of a manifest before the manifest.
 * Content that exists is not sent again.
 */
export interface ImageTarget {
  /** Name for messages. */
  readonly name: string;
  /** What the target has, as it is when it is read. The target closes it. */
  readonly place: ImagePlace;
  /**
   * Whether a manifest may be there without its blobs. Registries refuse such a manifest; a layout
   * has them where a run left out blobs.
   */
  readonly mayLackBlobs: boolean;
  /** Digest of a tag or digest in this repository; undefined if it does not exist. */
  findDigest(reference: string, signal: AbortSignal): Promise<string | undefined>;
  hasBlob(descriptor: Descriptor, signal: AbortSignal): Promise<boolean>;
  /** @throws TerminalError if the content does not match the descriptor */
  pushBlob(blob: BlobToPush, signal: AbortSignal): Promise<PushOutcome>;
  /**
   * Pushes a manifest under its digest, and under its tag if any. A manifest with a subject becomes
   * one of the subject's referrers.
   */
  pushManifest(manifest: ManifestToPush, signal: AbortSignal): Promise<TypedDescriptor>;
  /**
   * Whether an existing manifest is listed as a referrer of its subject. Both are written one after
   * the other, and a run may be killed between them.
   */
  hasReferrer(referrer: Referrer, signal: AbortSignal): Promise<boolean>;
  /** Adds a tag to an existing manifest. */
  tag(digest: string, tag: string, signal: AbortSignal): Promise<void>;
  /** Finishes writing: only after this, an archive exists and is complete. */
  close(): Promise<void>;
  /** Stops writing: creates no archive; other targets keep the pushed content. */
  discard(): Promise<void>;
}

/** A place to write an image to, and the tag in its name. */
export interface OpenedTarget {
  readonly target: ImageTarget;
  readonly tag: string | undefined;
}

export interface OpenTargetOptions {
  /**
   * Continues a layout of an earlier run, whether finished, interrupted or discarded, and fails at
   * once if it has another writer. Names the artifact by which a finished archive is known as one of
   * an earlier run. By default an archive is a new one, and another writer of a layout is waited for.
   */
  readonly resume?: string;
  /** Replace an existing archive. By default it is refused. */
  readonly overwrite?: boolean | undefined;
  /**
   * The layout is of this process alone: content need not survive a loss of power, and the disk is
   * not waited for.
   */
  readonly isTemporary?: boolean | undefined;
  /** With `resume`: ends the check of an interrupted archive. */
  readonly signal?: AbortSignal | undefined;
}
