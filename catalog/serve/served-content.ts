import { StoredCatalog } from '../index/index.ts';
import { RegistryContent } from './grpc/registry-content.ts';

/**
 * The content to serve for one state of a catalog, in a directory that `buildContent` has filled.
 */
export class ServedContent implements AsyncDisposable {
  /** For HTTP. */
  readonly blobs: StoredCatalog;
  /** For gRPC. */
  readonly registry: RegistryContent;

  private constructor(blobs: StoredCatalog, registry: RegistryContent) {
    this.blobs = blobs;
    this.registry = registry;
  }

  /** @throws Error for a directory without complete content */
  static async open(directory: string): Promise<ServedContent> {
    const blobs = await StoredCatalog.open(directory);
    try {
      return new ServedContent(blobs, await RegistryContent.open(directory, blobs));
    } catch (error) {
      await blobs[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.blobs[Symbol.asyncDispose]();
    await this.registry[Symbol.asyncDispose]();
  }
}
