/**
 * A bundle's content: a read-only tree of regular files within ContentLimits. Paths are relative,
 * `/`-separated, without `.` or `..` parts, and never end in `/`.
 */
export interface BundleFiles {
  /** Content by path, in byte order of the paths. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Every directory except the root, including empty ones and parents of files. */
  readonly directories: ReadonlySet<string>;
}

/** Limits on the content of a source. Sizes are bytes, times milliseconds. */
export interface ContentLimits {
  /** Maximum size of all files together, unpacked. */
  readonly maxBytes: number;
  /** Maximum number of files and directories together. */
  readonly maxEntries: number;
  /** Maximum length of one path, in bytes. */
  readonly maxPathLength: number;
  /** Maximum number of parts of one path. */
  readonly maxDepth: number;
  /** Maximum unpacked bytes per compressed byte; checked above a megabyte of unpacked content. */
  readonly maxCompressionRatio: number;
  /** Maximum time of one fetch of one bundle, from connecting to the last byte. */
  readonly timeout: number;
}
