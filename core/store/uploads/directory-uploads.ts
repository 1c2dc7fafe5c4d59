import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import type { ContentKey } from '../../contracts/store.ts';
import type { UploadStore } from '../../contracts/upload-store.ts';
import { errorMessage } from '../../errors.ts';
import { shortList } from '../../short-list.ts';
import { archivePath, bundleNameOf, storablePath } from '../archive.ts';
import { type OnLeftover, prepareDirectory, syncDirectory } from '../temporary-files.ts';

const shownFailures = 3;

/** Names files that could not be deleted. */
export class UndeletedFilesError extends Error {}

/**
 * Uploads as `<directory>/<bundle>.<uid>.tgz`, of one process only; ClusterUploads shares uploads
 * among replicas.
 */
export class DirectoryUploads implements UploadStore {
  readonly #directory: string;

  constructor(directory: string, onLeftover?: OnLeftover) {
    this.#directory = directory;
    prepareDirectory(directory, onLeftover);
  }

  async has(key: ContentKey): Promise<boolean> {
    const path = storablePath(this.#directory, fileName(key));
    return path !== undefined && existsSync(path);
  }

  async digest(key: ContentKey): Promise<string | undefined> {
    const stream = await this.read(key);
    return stream && (await digestOf(stream));
  }

  async put(key: ContentKey, { path, confirm }: Parameters<UploadStore['put']>[1]): Promise<void> {
    const stored = archivePath(this.#directory, fileName(key));
    await confirm?.();
    await rename(path, stored);
    await syncDirectory(this.#directory);
  }

  async read(key: ContentKey): Promise<AsyncIterable<Uint8Array> | undefined> {
    const path = storablePath(this.#directory, fileName(key));
    if (path === undefined) return undefined;
    let file: FileHandle;
    try {
      file = await open(path);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    // Closes the file at its end, and when its reader stops early.
    return file.createReadStream();
  }

  async delete(key: ContentKey): Promise<void> {
    const path = storablePath(this.#directory, fileName(key));
    if (path !== undefined) await rm(path, { force: true });
  }

  async collect(isWanted: (key: ContentKey) => Promise<boolean>): Promise<void> {
    const failures: string[] = [];
    for (const file of await readdir(this.#directory)) {
      const key = keyOf(file);
      if (key === undefined || (await isWanted(key))) continue;
      await this.delete(key).catch((error: unknown) => failures.push(errorMessage(error)));
    }
    if (failures.length > 0) throw new UndeletedFilesError(shortList(failures, shownFailures));
  }
}

/** Without the suffix of archives. */
function fileName({ name, uid }: ContentKey): string {
  return `${name}.${uid}`;
}

/** A Bundle's name, and its UID: files of others are not touched. */
const uploadName = /^(?<name>.+)\.(?<uid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Undefined for a file that is not an upload. */
function keyOf(file: string): ContentKey | undefined {
  const { name, uid } = uploadName.exec(bundleNameOf(file) ?? '')?.groups ?? {};
  return name === undefined || uid === undefined ? undefined : { name, uid };
}

/** SHA-256 of a stream, as hex. */
async function digestOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}
