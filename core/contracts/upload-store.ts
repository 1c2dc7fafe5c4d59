import type { ContentKey } from './store.ts';

/** The whole body of an upload in a file, which whoever received it removes where it is left. */
export interface ReceivedUpload {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 as hex. */
  readonly digest: string;
}

/**
 * What clients uploaded for Bundles, byte for byte. By UID too: a Bundle never gets what
 * was meant for a predecessor of its name.
 */
export interface UploadStore {
  /** SHA-256 as hex of what is stored; undefined where nothing is. */
  digest(key: ContentKey, signal: AbortSignal): Promise<string | undefined>;
  /** Replaces what is stored in one step: readers see the old bytes or the new, never a mix. */
  put(key: ContentKey, upload: ReceivedUpload, signal: AbortSignal): Promise<void>;
  /** The bytes; undefined where there are none. */
  read(key: ContentKey, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** None is no error. */
  delete(key: ContentKey, signal: AbortSignal): Promise<void>;
  /** Removes all uploads that are not wanted, and what crashes left half written. */
  collect(isWanted: (key: ContentKey) => Promise<boolean>, signal: AbortSignal): Promise<void>;
}
