import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import type { ContentKey, ContentStore, PinnedKey } from '../../core/contracts/store.ts';

interface Stored {
  readonly uid: string;
  readonly pin: string | undefined;
  readonly files: BundleFiles;
}

/** A content store without a disk. */
export class MemoryStore implements ContentStore {
  address = 'https://content.example';
  readonly #contents = new Map<string, Stored>();

  async has(key: PinnedKey): Promise<boolean> {
    return (await this.load(key)) !== undefined;
  }

  async checkRoom(): Promise<void> {
    await Promise.resolve();
  }

  async put({ name, uid, pin }: PinnedKey, files: BundleFiles): Promise<void> {
    this.#contents.set(name, { uid, pin, files });
  }

  async load({ name, uid, pin }: PinnedKey): Promise<BundleFiles | undefined> {
    const stored = this.#contents.get(name);
    const isOther = pin !== undefined && pin !== (stored?.pin ?? pin);
    return stored?.uid === uid && !isOther ? stored.files : undefined;
  }

  async delete({ name, uid }: ContentKey): Promise<void> {
    if (this.#contents.get(name)?.uid === uid) this.#contents.delete(name);
  }

  contentURL(name: string): string {
    return `${this.address}/bundles/${name}.tgz`;
  }
}
