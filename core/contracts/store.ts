import type { BundleFiles } from './bundle-files.ts';

/** Which content: a Bundle's name, and its UID so that a namesake never gets a predecessor's. */
export interface ContentKey {
  readonly name: string;
  readonly uid: string;
}

/** Bundle content on disk, as `<name>.tgz`. */
export interface ContentStore {
  has(key: ContentKey): Promise<boolean>;
  /** Replaces the content in one step: readers see the old archive or the new one. */
  put(key: ContentKey, files: BundleFiles): Promise<void>;
  /** The content, or undefined where none is stored under this name and UID. */
  load(key: ContentKey): Promise<BundleFiles | undefined>;
  /** Removes the content of a name, whatever its UID; none is no error. */
  delete(name: string): Promise<void>;
  /** URL under which the content server serves the archive. */
  contentURL(name: string): string;
}
