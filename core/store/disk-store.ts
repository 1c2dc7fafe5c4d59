import { readdir, rename, rm, stat } from 'node:fs/promises';
import { packBundle, storedLimits, unpackBundle } from '../content/index.ts';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { ContentKey, ContentStore, PinnedKey } from '../contracts/store.ts';
import { TerminalError } from '../errors.ts';
import { shortList } from '../short-list.ts';
import {
  archivePath,
  bundleNameOf,
  isIntact,
  type OpenArchive,
  openArchive,
  storablePath,
  writeArchive,
  writerOf,
} from './archive.ts';
import type { ArchiveSpace } from './space/archive-space.ts';
import {
  FileKept,
  type OnLeftover,
  prepareDirectory,
  setAside,
  syncDirectory,
  temporaryPath,
} from './temporary-files.ts';

interface DiskStoreOptions {
  /** Created if missing; no other process may write to it. */
  readonly directory: string;
  /** URL of the content server for clients, such as `https://core.rukpak-system.svc`. */
  readonly externalAddress: string;
  readonly limits: ContentLimits;
  readonly onLeftover?: OnLeftover;
  /** Set damaged archives aside (default: delete them, as their content is fetched again). */
  readonly keepsDamaged?: boolean;
  /** Whether there is a Bundle of this name and UID (default: always). */
  readonly isCurrent?: (key: ContentKey) => boolean;
  /** Bounds the archives of all stores together (default: no bound). */
  readonly space?: ArchiveSpace | undefined;
}

/**
 * Archives as `<directory>/<bundle>.tgz`. An archive appears complete, synced to disk, or not at
 * all; the next start deletes incomplete files of a crash.
 */
export class DiskStore implements ContentStore {
  readonly #directory: string;
  readonly #externalAddress: string;
  readonly #limits: ContentLimits;
  readonly #onLeftover: OnLeftover | undefined;
  readonly #keepsDamaged: boolean;
  readonly #isCurrent: (key: ContentKey) => boolean;
  readonly #space: ArchiveSpace | undefined;
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: DiskStoreOptions) {
    this.#onLeftover = options.onLeftover;
    this.#keepsDamaged = options.keepsDamaged ?? false;
    this.#isCurrent = options.isCurrent ?? (() => true);
    this.#directory = options.directory;
    this.#externalAddress = options.externalAddress.replace(/\/+$/, '');
    this.#limits = storedLimits(options.limits);
    this.#space = options.space;
    prepareDirectory(this.#directory, options.onLeftover);
    this.#space?.addDirectory(this.#directory);
  }

  async has(key: PinnedKey): Promise<boolean> {
    const archive = await openArchive(this.#directory, key);
    await archive?.file.close();
    return archive !== undefined;
  }

  async checkRoom(key: ContentKey): Promise<void> {
    await this.#space?.checkBeforeFetch(archivePath(this.#directory, key.name), key);
  }

  async put(key: PinnedKey, files: BundleFiles): Promise<void> {
    const path = archivePath(this.#directory, key.name);
    const temporary = temporaryPath(this.#directory);
    try {
      await writeArchive(temporary, packBundle(files), key);
      const { size } = await stat(temporary);
      await this.#inTurn(async () => {
        await this.#space?.check(path, key, size);
        const writer = await writerOf(path);
        if (writer === 'foreign') await this.#setAside(path, foreignFile);
        else if (writer !== undefined && writer.uid !== key.uid) this.#checkCurrent(key);
        await rename(temporary, path);
        this.#space?.set(path, key.name, size);
      });
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await syncDirectory(this.#directory);
  }

  /** The archive of another Bundle may be that of a later one of the name. */
  #checkCurrent(key: ContentKey): void {
    if (this.#isCurrent(key)) return;
    throw new Error(`Bundle "${key.name}" was deleted while its content was being stored`);
  }

  async load(key: PinnedKey): Promise<BundleFiles | undefined> {
    const archive = await openArchive(this.#directory, key);
    if (archive === undefined) return undefined;
    const { file } = archive;
    try {
      const stream = file.createReadStream({ start: 0, autoClose: false });
      const { signal } = new AbortController();
      return await unpackBundle(stream, { limits: this.#limits, signal });
    } catch (error) {
      // A whole archive may be over a limit that was lowered since.
      if (!(error instanceof TerminalError) || (await this.#isIntact(key))) throw error;
      await this.#drop(key, archive);
      return undefined;
    } finally {
      await file.close();
    }
  }

  async #isIntact(key: PinnedKey): Promise<boolean> {
    // The failed reader has closed its file.
    const archive = await openArchive(this.#directory, key);
    if (archive === undefined) return false;
    try {
      return await isIntact(archive);
    } finally {
      await archive.file.close();
    }
  }

  /** Makes room for the content from its source. */
  async #drop(key: ContentKey, { stamp }: OpenArchive): Promise<void> {
    // Without a digest, of an earlier version, the damage is not certain.
    if (!this.#keepsDamaged && stamp?.digest !== undefined) return await this.delete(key);
    const damaged = (aside: string): string =>
      `the archive of Bundle "${key.name}" is damaged: core keeps it as "${aside}", and needs the content from its source again`;
    await this.#changeOwn(key, async (path) => {
      await this.#setAside(path, damaged);
      this.#space?.delete(path);
    });
  }

  async delete(key: ContentKey): Promise<void> {
    await this.#changeOwn(key, async (path) => {
      await rm(path);
      this.#space?.delete(path);
    });
  }

  /**
   * Moves the archive of exactly this Bundle into a store on the same file system, if there is one. Two
   * stores must not move archives to each other at the same time.
   */
  async move(key: ContentKey, to: DiskStore): Promise<void> {
    await this.#changeOwn(key, async (path) => {
      const moved = archivePath(to.#directory, key.name);
      await to.#inTurn(async () => {
        if ((await writerOf(moved)) === 'foreign') await to.#setAside(moved, foreignFile);
        await rename(path, moved);
        this.#space?.move(path, moved);
      });
      await syncDirectory(to.#directory);
    });
  }

  /** Changes the archive of exactly this Bundle, if there is one. */
  async #changeOwn(
    { name, uid }: ContentKey,
    change: (path: string) => Promise<void>,
  ): Promise<void> {
    const path = storablePath(this.#directory, name);
    if (path === undefined) return;
    await this.#inTurn(async () => {
      const writer = await writerOf(path);
      if (writer !== 'foreign' && writer?.uid === uid) await change(path);
    });
  }

  /** Changes run one after the other, so that none applies to the file of a later one. */
  async #inTurn(change: () => Promise<void>): Promise<void> {
    const changed = this.#changes.then(change);
    this.#changes = changed.catch(() => undefined);
    await changed;
  }

  contentURL(name: string): string {
    return `${this.#externalAddress}/bundles/${encodeURIComponent(name)}.tgz`;
  }

  /** The Bundles with an archive, and the paths of files that only have the name of one. */
  async list(): Promise<StoredArchives> {
    const stored: ContentKey[] = [];
    const foreign: string[] = [];
    for (const file of await readdir(this.#directory)) {
      const name = bundleNameOf(file);
      if (name === undefined) continue;
      const path = archivePath(this.#directory, name);
      // Files that core cannot read are not its own either.
      const writer = await writerOf(path).catch(() => 'foreign' as const);
      if (writer === 'foreign') foreign.push(path);
      else if (writer !== undefined) stored.push({ name, uid: writer.uid });
    }
    return { stored, foreign };
  }

  async #setAside(path: string, report: (aside: string) => string): Promise<void> {
    this.#onLeftover?.(new FileKept(report(await setAside(path))));
  }
}

function foreignFile(aside: string): string {
  return `a file that core did not write had the name of an archive: it is now "${aside}". Move it to another directory, or delete it`;
}

interface StoredArchives {
  readonly stored: readonly ContentKey[];
  readonly foreign: readonly string[];
}

const shownFiles = 3;

/**
 * Deletes the archives of deleted Bundles, as far as possible, and no other files. Calls `live` after listing the
 * archives, so that archives of Bundles created meanwhile stay.
 */
export async function collectGarbage(
  store: Pick<DiskStore, 'list' | 'delete'>,
  live: () => readonly string[],
  onLeftover: OnLeftover,
): Promise<void> {
  try {
    const { stored, foreign } = await store.list();
    const names = new Set(live());
    for (const key of stored) {
      if (!names.has(key.name)) await store.delete(key).catch(onLeftover);
    }
    if (foreign.length > 0) onLeftover(new FileKept(foreignFiles(foreign)));
  } catch (error) {
    onLeftover(error);
  }
}

function foreignFiles(paths: readonly string[]): string {
  const all = shortList(paths, shownFiles);
  return `core keeps files among its archives that it did not write or cannot read: ${all}. Move them to another directory`;
}
