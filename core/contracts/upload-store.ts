import type { ContentKey } from './store.ts';

/** A received upload in a file, which the receiver deletes if the store does not move it. */
export interface ReceivedUpload {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 as hex. */
  readonly digest: string;
}

interface NewUpload extends ReceivedUpload {
  /** Called right before readers see the bytes; a rejection leaves the stored upload as it is. */
  readonly confirm?: () => Promise<void>;
}

/**
 * Uploads for Bundles, byte for byte. Keyed by UID too, so that a recreated Bundle never gets its
 * predecessor's upload.
 */
export interface UploadStore {
  /** Whether there is an upload; reads none of its bytes. */
  has(key: ContentKey, signal: AbortSignal): Promise<boolean>;
  /** SHA-256 of the stored upload as hex; undefined when there is none. */
  digest(key: ContentKey, signal: AbortSignal): Promise<string | undefined>;
  /** Replaces the stored upload in one step: readers see the old bytes or the new, never a mix. */
  put(key: ContentKey, upload: NewUpload, signal: AbortSignal): Promise<void>;
  /** The bytes; undefined when there are none. */
  read(key: ContentKey, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** No error when there is none. */
  delete(key: ContentKey, signal: AbortSignal): Promise<void>;
  /** Deletes all unwanted uploads, and incomplete ones of crashes. */
  collect(isWanted: (key: ContentKey) => Promise<boolean>, signal: AbortSignal): Promise<void>;
}
