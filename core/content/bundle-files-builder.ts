import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import { TerminalError } from '../errors.ts';

/**
 * Collects a bundle's files; refuses paths outside of the tree and exceeded limits with a
 * TerminalError. Drops `.` parts and doubled slashes in paths; a later file replaces an earlier
 * one.
 */
export class BundleFilesBuilder {
  readonly #limits: ContentLimits;
  readonly #files = new Map<string, Uint8Array>();
  readonly #directories = new Set<string>();
  #bytes = 0;

  constructor(limits: ContentLimits) {
    this.#limits = limits;
  }

  addFile(path: string, content: Uint8Array): void {
    // Limits can be checked only for these types.
    if (typeof path !== 'string' || !((content as unknown) instanceof Uint8Array)) {
      throw new TypeError(
        'addFile(path, content) needs the path, a string, and then the content, a Uint8Array',
      );
    }
    const clean = this.#checkedPath(path);
    if (clean === '') throw new TerminalError('content has a file without a name');
    if (this.#directories.has(clean)) {
      throw new TerminalError(`content has both a file and a directory at "${clean}"`);
    }
    this.#addParents(clean);
    this.#bytes += content.byteLength - (this.#files.get(clean)?.byteLength ?? 0);
    if (this.#bytes > this.#limits.maxBytes) {
      throw new TerminalError(
        `content is larger than the limit of ${this.#limits.maxBytes} bytes (--max-content-bytes)`,
      );
    }
    this.#files.set(clean, content);
    this.#checkEntries();
  }

  addDirectory(path: string): void {
    const clean = this.#checkedPath(path);
    if (clean === '') return;
    if (this.#files.has(clean)) {
      throw new TerminalError(`content has both a file and a directory at "${clean}"`);
    }
    this.#addParents(clean);
    this.#directories.add(clean);
    this.#checkEntries();
  }

  build(): BundleFiles {
    const paths = [...this.#files.keys()].sort(byPath);
    return {
      files: new Map(paths.map((path) => [path, this.#files.get(path) ?? new Uint8Array()])),
      directories: new Set([...this.#directories].sort(byPath)),
    };
  }

  #checkedPath(path: string): string {
    if (Buffer.byteLength(path) > this.#limits.maxPathLength) {
      throw new TerminalError(
        `content has a path of ${Buffer.byteLength(path)} bytes, over the limit of ${this.#limits.maxPathLength} (--max-content-path-length): "${path.slice(0, 60)}…"`,
      );
    }
    if (path.startsWith('/') || path.includes('\0')) throw outside(path);
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) throw outside(path);
    if (parts.length > this.#limits.maxDepth) {
      throw new TerminalError(
        `content path "${path.slice(0, 60)}…" has ${parts.length} parts, over the limit of ${this.#limits.maxDepth} (--max-content-depth)`,
      );
    }
    return parts.join('/');
  }

  #addParents(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const parent = path.slice(0, end);
      if (this.#files.has(parent)) {
        throw new TerminalError(`content has both a file and a directory at "${parent}"`);
      }
      if (this.#directories.has(parent)) return;
      this.#directories.add(parent);
    }
  }

  #checkEntries(): void {
    if (this.#files.size + this.#directories.size > this.#limits.maxEntries) {
      throw new TerminalError(
        `content has more than ${this.#limits.maxEntries} entries (--max-content-entries)`,
      );
    }
  }
}

function byPath(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function outside(path: string): TerminalError {
  return new TerminalError(
    `content has a path that leaves the bundle: ${JSON.stringify(path.slice(0, 200))}`,
  );
}

/** What a value lacks of a tree of files, if no compiler has checked it; undefined for a tree. */
export function faultOfFiles(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null) return 'it is not an object';
  const { files, directories } = result as { files?: unknown; directories?: unknown };
  if (!(files instanceof Map)) return '"files" is not a Map of paths and bytes';
  if (!(directories instanceof Set)) return '"directories" is not a Set of paths';
  for (const [path, content] of files as ReadonlyMap<unknown, unknown>) {
    if (typeof path !== 'string') return 'a path in "files" is not a string';
    if (!(content instanceof Uint8Array)) {
      return `the content of "${path.slice(0, 200)}" is not a Uint8Array`;
    }
  }
  for (const path of directories as ReadonlySet<unknown>) {
    if (typeof path !== 'string') return 'a path in "directories" is not a string';
  }
  return undefined;
}

/** Refuses a tree above a limit with a TerminalError: it could be stored, but never loaded. */
export function checkFiles({ files, directories }: BundleFiles, limits: ContentLimits): void {
  const builder = new BundleFilesBuilder(limits);
  for (const path of directories) builder.addDirectory(path);
  for (const [path, content] of files) builder.addFile(path, content);
}

const mebibyte = 1024 * 1024;

/**
 * Large enough for operators, and far below what a process of 512 MiB can handle; each is a flag of
 * core.
 */
export const defaultLimits: ContentLimits = {
  maxBytes: 64 * mebibyte,
  maxEntries: 20_000,
  maxPathLength: 1024,
  maxDepth: 64,
  maxCompressionRatio: 200,
  timeout: 120_000,
};

/**
 * The limits for content that was within `limits` when it was stored: core's archives compress
 * better than those of sources, and have an additional entry for the root.
 */
export function storedLimits(limits: ContentLimits): ContentLimits {
  return {
    ...limits,
    maxEntries: limits.maxEntries + 1,
    maxCompressionRatio: Number.POSITIVE_INFINITY,
  };
}
