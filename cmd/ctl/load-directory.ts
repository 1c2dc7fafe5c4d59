import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BundleFilesBuilder } from '../../core/content/index.ts';
import type { BundleFiles, ContentLimits } from '../../core/contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';

/**
 * Reads a directory as bundle content, in one go and without yielding: meant for command-line
 * processes and worker threads. Files and directories only: a link, pipe, socket or device is
 * refused, so nothing outside the directory is ever read and nothing blocks.
 * @throws TerminalError that names the path, also where a limit is passed.
 */
export function loadDirectory(root: string, limits: ContentLimits): BundleFiles {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats === undefined) throw new TerminalError(`open ${root}: no such file or directory`);
  if (!stats.isDirectory()) throw new TerminalError(`${root} is not a directory`);
  const reader = new DirectoryReader(root, limits);
  reader.read('');
  return reader.build();
}

class DirectoryReader {
  readonly #root: string;
  readonly #limits: ContentLimits;
  readonly #builder: BundleFilesBuilder;

  constructor(root: string, limits: ContentLimits) {
    this.#root = root;
    this.#limits = limits;
    this.#builder = new BundleFilesBuilder(limits);
  }

  read(directory: string): void {
    for (const entry of this.#entries(directory)) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (entry.isDirectory()) {
        this.#builder.addDirectory(path);
        this.read(path);
      } else if (entry.isFile()) {
        this.#builder.addFile(path, this.#content(path));
      } else {
        throw new TerminalError(
          `${join(this.#root, path)} is neither a file nor a directory: replace the link or device by what it stands for`,
        );
      }
    }
  }

  build(): BundleFiles {
    return this.#builder.build();
  }

  #entries(directory: string): ReturnType<typeof readEntries> {
    return this.#explained(directory, readEntries);
  }

  #content(path: string): Uint8Array {
    return this.#explained(path, (absolute) => {
      // The builder counts what was read; this keeps a huge file from being read at all.
      if (lstatSync(absolute).size > this.#limits.maxBytes) {
        throw new TerminalError(
          `${absolute} alone is larger than the limit of ${this.#limits.maxBytes} bytes`,
        );
      }
      return readFileSync(absolute);
    });
  }

  #explained<T>(path: string, read: (absolute: string) => T): T {
    const absolute = join(this.#root, path);
    try {
      return read(absolute);
    } catch (error) {
      if (error instanceof TerminalError) throw error;
      throw new TerminalError(`cannot read ${absolute}: ${errorMessage(error)}`, { cause: error });
    }
  }
}

function readEntries(directory: string) {
  return readdirSync(directory, { withFileTypes: true });
}
