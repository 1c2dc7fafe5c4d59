import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import type { ContentKey, ContentStore } from '../../core/contracts/store.ts';

interface Stored {
  readonly uid: string;
  readonly files: BundleFiles;
}

/** A content store without a disk. */
export class MemoryStore implements ContentStore {
  address = 'https://content.example';
  readonly #contents = new Map<string, Stored>();

  async has(key: ContentKey): Promise<boolean> {
    return (await this.load(key)) !== undefined;
  }

  async put({ name, uid }: ContentKey, files: BundleFiles): Promise<void> {
    this.#contents.set(name, { uid, files });
  }

  async load({ name, uid }: ContentKey): Promise<BundleFiles | undefined> {
    const stored = this.#contents.get(name);
    return stored?.uid === uid ? stored.files : undefined;
  }

  async delete({ name, uid }: ContentKey): Promise<void> {
    if (this.#contents.get(name)?.uid === uid) this.#contents.delete(name);
  }

  contentURL(name: string): string {
    return `${this.address}/bundles/${name}.tgz`;
  }
}
