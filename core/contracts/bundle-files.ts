/**
 * A bundle's content: a read-only tree of regular files, bounded by ContentLimits.
 * Paths are relative, `/`-separated, without `.` or `..` parts and never end in `/`.
 */
export interface BundleFiles {
  /** Content by path, in byte order of the paths. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Every directory but the root, empty ones and parents of files included. */
  readonly directories: ReadonlySet<string>;
}

/** Bounds on what a source may bring in. Sizes are bytes, times milliseconds. */
export interface ContentLimits {
  /** All files together, unpacked. */
  readonly maxBytes: number;
  /** Files and directories together. */
  readonly maxEntries: number;
  /** One path, in bytes. */
  readonly maxPathLength: number;
  /** Parts of one path. */
  readonly maxDepth: number;
  /** Unpacked bytes per compressed byte; checked once more than a megabyte is unpacked. */
  readonly maxCompressionRatio: number;
  /** One fetch of one bundle, from connecting to the last byte. */
  readonly timeout: number;
}
