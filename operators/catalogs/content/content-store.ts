import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { CatalogKind } from '../catalog-contents.ts';
import { CatalogContent } from './catalog-content.ts';

/** An object whose content is stored. */
export interface CatalogKey {
  readonly kind: CatalogKind;
  readonly name: string;
}

const recordSchema = z.object({
  uid: z.string(),
  ref: z.string(),
  resolvedRef: z.string(),
  unpackedAt: z.number(),
});

/** What stored content is of. */
export interface StoredState extends z.infer<typeof recordSchema> {}

export interface StoredContent {
  readonly state: StoredState;
  readonly content: CatalogContent;
}

/** Content in another format is not read, and removed. */
const format = 'rukpak.v2';
const anyFormat = /^rukpak\.v\d+$/;
/** Beginning of the names of workspaces. */
const unfinished = `${format}.new-`;
const stateFile = 'state.json';

/**
 * Contents of catalogs on the disk of this replica, one for each catalog: complete or not there,
 * also after a crash. Only one process may use the directory. Files of others in it stay.
 */
export class ContentStore {
  readonly #root: string;

  constructor(directory: string) {
    this.#root = join(directory, 'catalogs');
  }

  /** Removes what a former process left unfinished. */
  async prepare(): Promise<void> {
    await mkdir(this.#root, { recursive: true });
    await this.#remove((name) => name.startsWith(unfinished));
  }

  /** A new directory for work; the caller removes it. */
  async workspace(): Promise<string> {
    await mkdir(this.#root, { recursive: true });
    return await mkdtemp(join(this.#root, unfinished));
  }

  /**
   * The stored content of the object with this UID; undefined if it is missing or damaged.
   * @param resolvedRef the image that it has to be of (default: any)
   */
  async open(
    key: CatalogKey,
    uid: string,
    resolvedRef?: string,
  ): Promise<StoredContent | undefined> {
    const directory = this.#directory(key);
    try {
      const state = recordSchema.parse(
        JSON.parse(await readFile(join(directory, stateFile), 'utf8')),
      );
      if (state.uid !== uid || (resolvedRef ?? state.resolvedRef) !== state.resolvedRef) {
        return undefined;
      }
      const content = await CatalogContent.open(join(directory, folderOf(state)));
      // A loss of power may leave a file of the right size, with zeros in it.
      if (await content.isWhole()) return { state, content };
      await content[Symbol.asyncDispose]();
      return undefined;
    } catch {
      return undefined;
    }
  }

  /** Stores the content in a directory, which it takes over, and opens it; former content stays. */
  async put(key: CatalogKey, state: StoredState, from: string): Promise<StoredContent> {
    const directory = this.#directory(key);
    const folder = folderOf(state);
    await mkdir(directory, { recursive: true });
    await rm(join(directory, folder), { recursive: true, force: true });
    await rename(from, join(directory, folder));
    const content = await CatalogContent.open(join(directory, folder));
    await this.restate(key, state);
    return { state, content };
  }

  /** Removes former content, which other processes open by its path: not before the new one serves. */
  async removeFormer(key: CatalogKey, state: StoredState): Promise<void> {
    const directory = this.#directory(key);
    const kept = [folderOf(state), stateFile];
    for (const name of await readdir(directory)) {
      if (kept.includes(name)) continue;
      await rm(join(directory, name), { recursive: true, force: true });
    }
  }

  /** Replaces the state of stored content. */
  async restate(key: CatalogKey, state: StoredState): Promise<void> {
    const file = join(this.#directory(key), stateFile);
    await writeFile(`${file}.new`, JSON.stringify(state));
    await rename(`${file}.new`, file);
  }

  async remove(key: CatalogKey): Promise<void> {
    await rm(this.#directory(key), { recursive: true, force: true });
  }

  /** Removes the content of objects that `exists` does not know; returns their keys. */
  async collect(exists: (key: CatalogKey) => boolean): Promise<readonly CatalogKey[]> {
    const removed: CatalogKey[] = [];
    for (const kind of ['Catalog', 'ClusterCatalog'] as const) {
      const names = await readdir(join(this.#root, format, kind)).catch((): string[] => []);
      for (const key of names.map((name) => ({ kind, name }))) {
        if (exists(key)) continue;
        await this.remove(key);
        removed.push(key);
      }
    }
    await this.#remove((name) => anyFormat.test(name) && name !== format);
    return removed;
  }

  async #remove(isUnused: (name: string) => boolean): Promise<void> {
    const names = await readdir(this.#root).catch((): string[] => []);
    for (const name of names.filter(isUnused)) {
      await rm(join(this.#root, name), { recursive: true, force: true });
    }
  }

  #directory({ kind, name }: CatalogKey): string {
    return join(this.#root, format, kind, name);
  }
}

/** A digest is the name of its folder. */
function folderOf({ resolvedRef }: StoredState): string {
  return resolvedRef.slice(resolvedRef.indexOf('@') + 1).replace(':', '-');
}
