import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '../../api/json.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { ContentKey, PinnedKey } from '../contracts/store.ts';
import { DiskStore } from './disk-store.ts';
import type { ArchiveSpace } from './space/archive-space.ts';
import { type OnLeftover, temporaryPath } from './temporary-files.ts';

export interface KeptArchivesOptions {
  readonly store: DiskStore;
  /** Directory of the store; kept archives are in a folder below it. */
  readonly directory: string;
  readonly limits: ContentLimits;
  /** That of the store. */
  readonly space?: ArchiveSpace | undefined;
  /** Whether a deployment has the Bundle's content installed. */
  readonly isInstalled: (bundle: Bundle) => boolean;
  /** Whether the Bundle exists: a restore of etcd may bring a deleted one back. */
  readonly isLive: (bundle: Bundle) => boolean;
  readonly onLeftover: OnLeftover;
}

const suffix = '.json';
/** Bytes. */
const maxFileName = 255;

/**
 * Archives of Bundles that were deleted while their content is installed, as `kept/<bundle>.tgz`
 * with the Bundle in `kept/<bundle>.json`: without them core could not repair installed objects
 * until the source answers again.
 */
export class KeptArchives {
  readonly #options: KeptArchivesOptions;
  readonly #directory: string;
  /** Undefined while nothing is kept: most processes never need the folder. */
  #archives: DiskStore | undefined;
  /** By name. */
  readonly #bundles = new Map<string, Bundle>();
  /** Changes run one after the other: concurrent ones could separate a record from its archive. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(options: KeptArchivesOptions) {
    this.#options = options;
    this.#directory = join(options.directory, 'kept');
    if (!existsSync(this.#directory)) return;
    options.space?.addDirectory(this.#directory);
    for (const file of readdirSync(this.#directory)) this.#read(file);
  }

  /** The deleted Bundle of that name whose content is kept. */
  get(name: string): Bundle | undefined {
    return this.#bundles.get(name);
  }

  async load(key: PinnedKey): Promise<BundleFiles | undefined> {
    return this.#bundles.has(key.name) ? await this.#store().load(key) : undefined;
  }

  /**
   * Deletes the stored content of a deleted Bundle, or keeps it if it is installed. A Bundle is
   * released while it is being deleted, and once more when it is gone: what was kept the first time
   * goes the second, if something else is installed by then.
   */
  async release(bundle: Bundle): Promise<void> {
    const { store, isInstalled } = this.#options;
    const key = keyOf(bundle);
    const { name, uid } = key;
    await this.#change(async () => {
      if (isInstalled(bundle)) await this.#keep(bundle);
      else if (this.#bundles.get(name)?.metadata.uid === uid) await this.#remove(name, bundle);
      await store.delete(key);
    });
  }

  /**
   * Moves the kept archive of a Bundle that exists again into the store; false when none of its content
   * is kept.
   */
  async giveBack(content: PinnedKey): Promise<boolean> {
    return await this.#change(() => this.#giveBack(content));
  }

  /** Deletes all content that is no longer installed, as far as possible. */
  async collect(): Promise<void> {
    const { isInstalled, isLive, onLeftover } = this.#options;
    await this.#change(async () => {
      for (const [name, bundle] of this.#bundles) {
        const isNeeded = isInstalled(bundle) || isLive(bundle);
        if (!isNeeded) await this.#remove(name, bundle).catch(onLeftover);
      }
    });
  }

  /** Completes the work of a process that ended after it had written the record. */
  async resume(): Promise<void> {
    const { isLive } = this.#options;
    await this.#change(async () => {
      for (const bundle of this.#bundles.values()) {
        if (!isLive(bundle)) await this.#keep(bundle);
      }
    });
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#changes.then(change);
    this.#changes = changed.catch(() => {});
    return changed;
  }

  async #giveBack(content: PinnedKey): Promise<boolean> {
    const { name, uid } = content;
    const { store, isLive } = this.#options;
    const bundle = this.#bundles.get(name);
    // Deleted again meanwhile.
    if (bundle?.metadata.uid !== uid || !isLive(bundle)) return false;
    const archives = this.#store();
    if (!(await archives.has(content))) return false;
    await archives.move(content, store);
    await this.#remove(name, bundle);
    return true;
  }

  /** Writes the record first: without it the owner of the archive would be unknown. */
  async #keep({ metadata, ...bundle }: Bundle): Promise<void> {
    const { name = '', uid = '' } = metadata;
    const { store } = this.#options;
    if (!(await store.has({ name, uid }))) return;
    const { deletionTimestamp: _, ...rest } = metadata;
    const kept = { ...bundle, metadata: rest };
    const archives = this.#store();
    const temporary = temporaryPath(this.#directory);
    try {
      await writeFile(temporary, stringifyJson(kept), { flush: true });
      await rename(temporary, this.#recordPath(name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    // Before the move of the archive: if that fails, the record goes when the content is no longer
    // installed.
    this.#bundles.set(name, kept);
    await store.move({ name, uid }, archives);
  }

  async #remove(name: string, bundle: Bundle): Promise<void> {
    this.#bundles.delete(name);
    await this.#store().delete(keyOf(bundle));
    await rm(this.#recordPath(name), { force: true });
  }

  #store(): DiskStore {
    const { limits, onLeftover, space } = this.#options;
    const directory = this.#directory;
    // A deleted Bundle is not fetched again.
    this.#archives ??= new DiskStore({
      directory,
      externalAddress: '',
      limits,
      onLeftover,
      keepsDamaged: true,
      space,
    });
    return this.#archives;
  }

  #read(file: string): void {
    if (!file.endsWith(suffix)) return;
    try {
      const bundle = parseJson(readFileSync(join(this.#directory, file), 'utf8')) as Bundle;
      const { name = '' } = bundle.metadata;
      if (recordName(name) === file) this.#bundles.set(name, bundle);
    } catch (error) {
      this.#options.onLeftover(error);
    }
  }

  #recordPath(name: string): string {
    return join(this.#directory, recordName(name));
  }
}

/** The longest names leave room for the suffix of archives only. */
function recordName(name: string): string {
  const file = name + suffix;
  return file.length <= maxFileName
    ? file
    : createHash('sha256').update(name).digest('hex') + suffix;
}

function keyOf({ metadata: { name = '', uid = '' } }: Bundle): ContentKey {
  return { name, uid };
}
