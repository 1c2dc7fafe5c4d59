import type { BundleFiles } from './bundle-files.ts';

/**
 * Identifies content by a Bundle's name and UID, so that a recreated Bundle never gets its
 * predecessor's content.
 */
export interface ContentKey {
  readonly name: string;
  readonly uid: string;
}

/** Bundle content on disk, as `<name>.tgz`. */
export interface ContentStore {
  has(key: ContentKey): Promise<boolean>;
  /** Replaces the content in one step: readers see the old archive or the new one. */
  put(key: ContentKey, files: BundleFiles): Promise<void>;
  /** The content; undefined when none is stored for this name and UID. */
  load(key: ContentKey): Promise<BundleFiles | undefined>;
  /** Deletes the content of this name and UID; no error when there is none. */
  delete(key: ContentKey): Promise<void>;
  /** URL of the archive on the content server. */
  contentURL(name: string): string;
}
