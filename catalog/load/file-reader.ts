import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { TerminalError } from '../../core/errors.ts';

/** Maximum size of a file: a Buffer of Node and its text must hold it. */
const maxFileBytes = 512 * 1024 * 1024;

/** Without waiting for the writer of a pipe: no signal would end that. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK;

/** Larger files get a buffer of their own. */
const sharedBytes = 1024 * 1024;

/** Reads the files of a directory, one at a time, into the same buffer. */
export class FileReader {
  readonly #directory: string;
  #shared: Buffer | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * The bytes of a file, valid until the next read.
   * @throws TerminalError for a file beyond 512 MiB, or an unreadable one.
   */
  read(file: string): Buffer {
    try {
      const descriptor = openSync(join(this.#directory, file), flags);
      try {
        return this.#content(descriptor, file);
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      throw this.#fileError(error, file);
    }
  }

  #content(descriptor: number, file: string): Buffer {
    const stats = fstatSync(descriptor);
    if (stats.isFIFO()) {
      throw new TerminalError(`${file} is a named pipe: a catalog consists of files`);
    }
    if (stats.size > maxFileBytes) {
      const message = `${file} has ${stats.size} bytes, more than ${maxFileBytes}: split it by package`;
      throw new TerminalError(message);
    }
    if (!stats.isFile()) return emptyContent(descriptor, file);
    const buffer = this.#memory(stats.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    }
    return buffer.subarray(0, length);
  }

  #memory(size: number): Buffer {
    if (size > sharedBytes) return Buffer.allocUnsafeSlow(size);
    this.#shared ??= Buffer.allocUnsafeSlow(sharedBytes);
    return this.#shared.subarray(0, size);
  }

  /** The error in the words of Go's file system, which opm prints. */
  #fileError(error: unknown, file: string): unknown {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'EISDIR':
        return new TerminalError(
          `read ${this.#directory.replace(/\/$/, '')}/${file}: is a directory`,
        );
      case 'ENOENT':
        return new TerminalError(`open ${file}: no such file or directory`);
      case 'EACCES':
        return new TerminalError(`open ${file}: permission denied`);
      case 'ELOOP':
        return new TerminalError(`open ${file}: too many levels of symbolic links`);
      default:
        return error;
    }
  }
}

/** Of /dev/null, as opm reads it; any other device may never end. Reading a directory fails. */
function emptyContent(descriptor: number, file: string): Buffer {
  if (readSync(descriptor, Buffer.alloc(1)) === 0) return Buffer.alloc(0);
  throw new TerminalError(`${file} is a device: a catalog consists of files`);
}
