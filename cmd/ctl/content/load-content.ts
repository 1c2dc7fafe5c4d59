import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BundleFilesBuilder } from '../../../core/content/index.ts';
import type { BundleFiles, ContentLimits } from '../../../core/contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import type { RegistryFlags } from '../../flags/registry-flags.ts';
import { loginKeychain } from '../../login-keychain.ts';
import { localError, withCoreFlags } from './local-limits.ts';

interface LoadOptions {
  readonly limits: ContentLimits;
  readonly registries: RegistryFlags;
}

/**
 * Loads content from an argument: a directory if one of that name exists, otherwise an image, which
 * is pulled with the credentials of `podman login` or `docker login` if there are any.
 * @throws TerminalError that names the argument.
 */
export async function loadContent(reference: string, options: LoadOptions): Promise<BundleFiles> {
  const isPath = /^[./~]/.test(reference) || existsSync(reference);
  return isPath ? loadDirectory(reference, options.limits) : await pullImage(reference, options);
}

async function pullImage(reference: string, options: LoadOptions): Promise<BundleFiles> {
  // Not needed for directories, and slow to load.
  const [{ ImagePuller }, { imagePullerOptions }] = await Promise.all([
    import('../../../core/sources/index.ts'),
    import('../../../core/manager/index.ts'),
  ]);
  const puller = new ImagePuller(await imagePullerOptions(options.registries));
  try {
    const keychain = await loginKeychain();
    const signal = new AbortController().signal;
    const { files } = await puller.pull(reference, { limits: options.limits, keychain, signal });
    return files;
  } catch (error) {
    throw new TerminalError(
      `${reference} is not a directory here, and pulling it as an image failed: ${withCoreFlags(errorMessage(error))}`,
      { cause: error },
    );
  }
}

/**
 * Reads a directory as bundle content, synchronously: for command-line processes and worker
 * threads. Accepts files and directories only: refuses a link, pipe, socket or device, so that it
 * never reads outside the directory and never blocks.
 * @throws TerminalError that names the path, also for an exceeded limit.
 */
export function loadDirectory(root: string, limits: ContentLimits): BundleFiles {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats === undefined) throw new TerminalError(`open ${root}: no such file or directory`);
  if (!stats.isDirectory()) throw new TerminalError(`${root} is not a directory`);
  const reader = new DirectoryReader(root, limits);
  try {
    reader.read('');
    return reader.build();
  } catch (error) {
    throw localError(error, root);
  }
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
          `${join(this.#root, path)} is neither a file nor a directory: replace the link or device by a regular file`,
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
      // The builder counts the bytes that are read; this check avoids reading a huge file at all.
      if (lstatSync(absolute).size > this.#limits.maxBytes) {
        throw new TerminalError(
          withCoreFlags(
            `${absolute} alone is larger than the limit of ${this.#limits.maxBytes} bytes (--max-content-bytes)`,
          ),
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
