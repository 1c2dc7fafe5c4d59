import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contentDigest, StoredCatalog } from '../index/index.ts';
import { loadDirectory } from '../load/index.ts';
import { buildContent } from './build-content.ts';

const format = 'rukpak.v1';
const digestFile = 'digest';

/**
 * Where what is served of a catalog is kept: `rukpak.v1/` below a directory, with a digest of the
 * catalog's files that it was made of. It is replaced as a whole or not at all.
 */
export class ContentCache {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * What is served of the catalog in the directory `source`: kept content where it is of the same
   * files, and else content that is built, validated and kept.
   */
  async open(source: string, signal: AbortSignal): Promise<StoredCatalog> {
    const digest = await contentDigest(source, signal);
    return (await this.#kept(digest)) ?? (await this.#build(source, digest, signal));
  }

  get #path(): string {
    return join(this.#directory, format);
  }

  async #kept(digest: string): Promise<StoredCatalog | undefined> {
    try {
      const kept = await readFile(join(this.#path, digestFile), 'utf8');
      return kept === digest ? await StoredCatalog.open(this.#path) : undefined;
    } catch {
      // Whatever is wrong with it: it is built again.
      return undefined;
    }
  }

  async #build(source: string, digest: string, signal: AbortSignal): Promise<StoredCatalog> {
    await mkdir(this.#directory, { recursive: true });
    const next = await mkdtemp(`${this.#path}.new-`);
    try {
      await buildContent(next, loadDirectory(source, { signal }), signal);
      await writeFile(join(next, digestFile), digest);
      // A directory is not renamed over another one. Content that is open stays readable.
      await rm(this.#path, { recursive: true, force: true });
      await rename(next, this.#path);
    } catch (error) {
      await rm(next, { recursive: true, force: true });
      throw error;
    }
    return await StoredCatalog.open(this.#path);
  }
}
