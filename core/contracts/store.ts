import type { BundleFiles } from './bundle-files.ts';

/**
 * Identifies content by a Bundle's name and UID, so that a recreated Bundle never gets its
 * predecessor's content.
 */
export interface ContentKey {
  readonly name: string;
  readonly uid: string;
}

/**
 * Content of a Bundle, and which one: a Bundle that was restored from a backup may have been pinned to
 * other content since it was stored under its UID.
 */
export interface PinnedKey extends ContentKey {
  /** Defaults to any: of content that was stored, or is asked for, without one. */
  readonly pin?: string | undefined;
}

/** Bundle content on disk, as `<name>.tgz`. */
export interface ContentStore {
  has(key: PinnedKey): Promise<boolean>;
  /**
   * Resolves unless the archives leave no room for the content, as far as its size is known before it is
   * fetched: from an earlier `put`.
   * @throws WaitingError as `put` does
   */
  checkRoom(key: ContentKey): Promise<void>;
  /** Replaces the content in one step: readers see the old archive or the new one. */
  put(key: PinnedKey, files: BundleFiles): Promise<void>;
  /** The content; undefined when none is stored for this name, UID and pin. */
  load(key: PinnedKey): Promise<BundleFiles | undefined>;
  /** Deletes the content of this name and UID; no error when there is none. */
  delete(key: ContentKey): Promise<void>;
  /** URL of the archive on the content server. */
  contentURL(name: string): string;
}
