import { posix } from 'node:path';

type Entry = Uint8Array | 'directory';

interface Stats {
  readonly type: 'file' | 'dir';
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/**
 * The part of node:fs's promise API that isomorphic-git uses, in memory: a fetch leaves nothing on
 * disk, and needs no writable folder.
 */
export class MemoryFileSystem {
  readonly #entries = new Map<string, Entry>([['/', 'directory']]);
  readonly #beforeWrite: (path: string, data: Uint8Array) => void;

  /** `beforeWrite` refuses a file by throwing. */
  constructor(beforeWrite: (path: string, data: Uint8Array) => void) {
    this.#beforeWrite = beforeWrite;
  }

  /** isomorphic-git looks for this property to choose the promise API. */
  get promises(): this {
    return this;
  }

  /** Writes a file without calling `beforeWrite`. */
  put(path: string, data: Uint8Array): void {
    this.#entries.set(posix.normalize(path), data);
  }

  readFile = async (
    path: string,
    options?: string | { encoding?: string },
  ): Promise<Uint8Array | string> => {
    const entry = this.#entry(path);
    if (entry === 'directory') throw systemError('EISDIR', path);
    const encoding = typeof options === 'string' ? options : options?.encoding;
    return encoding === undefined ? entry : Buffer.from(entry).toString('utf8');
  };

  writeFile = async (path: string, data: Uint8Array | string): Promise<void> => {
    const clean = posix.normalize(path);
    if (this.#entries.get(posix.dirname(clean)) !== 'directory') throw systemError('ENOENT', path);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    this.#beforeWrite(clean, bytes);
    this.#entries.set(clean, bytes);
  };

  mkdir = async (path: string): Promise<void> => {
    const clean = posix.normalize(path);
    if (this.#entries.has(clean)) throw systemError('EEXIST', path);
    if (this.#entries.get(posix.dirname(clean)) !== 'directory') throw systemError('ENOENT', path);
    this.#entries.set(clean, 'directory');
  };

  readdir = async (path: string): Promise<string[]> => {
    if (this.#entry(path) !== 'directory') throw systemError('ENOTDIR', path);
    const clean = posix.normalize(path);
    return [...this.#entries.keys()]
      .filter((key) => key !== clean && posix.dirname(key) === clean)
      .map((key) => posix.basename(key));
  };

  unlink = async (path: string): Promise<void> => {
    if (this.#entry(path) === 'directory') throw systemError('EISDIR', path);
    this.#entries.delete(posix.normalize(path));
  };

  rmdir = async (path: string): Promise<void> => {
    if ((await this.readdir(path)).length > 0) throw systemError('ENOTEMPTY', path);
    this.#entries.delete(posix.normalize(path));
  };

  rm = async (path: string): Promise<void> => {
    const clean = posix.normalize(path);
    for (const key of this.#entries.keys()) {
      if (key === clean || key.startsWith(`${clean}/`)) this.#entries.delete(key);
    }
  };

  stat = async (path: string): Promise<Stats> => {
    const entry = this.#entry(path);
    const directory = entry === 'directory';
    return {
      type: directory ? 'dir' : 'file',
      mode: directory ? 0o40755 : 0o100644,
      size: directory ? 0 : entry.byteLength,
      mtimeMs: 0,
      ctimeMs: 0,
      isFile: () => !directory,
      isDirectory: () => directory,
      isSymbolicLink: () => false,
    };
  };

  lstat = this.stat;

  readlink = async (path: string): Promise<string> => {
    throw systemError('EINVAL', path);
  };

  symlink = async (_target: string, path: string): Promise<void> => {
    throw systemError('EPERM', path);
  };

  #entry(path: string): Entry {
    const entry = this.#entries.get(posix.normalize(path));
    if (entry === undefined) throw systemError('ENOENT', path);
    return entry;
  }
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
