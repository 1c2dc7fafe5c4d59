import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Semaphore } from '../../../core/controller.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { CatalogImages, ImageRequest } from '../source/catalog-image.ts';
import type { UnpackJob, UnpackLimits, UnpackProblem } from '../unpack/unpack-catalog.ts';
import type { CatalogKey, ContentStore, StoredContent } from './content-store.ts';

export interface FetcherOptions {
  readonly images: Pick<CatalogImages, 'download'>;
  readonly store: ContentStore;
  /** Unpacks a downloaded image. */
  readonly unpack: (job: UnpackJob, signal: AbortSignal) => Promise<UnpackProblem>;
  readonly limits: UnpackLimits;
  /** Limits the catalogs that are unpacked at the same time. */
  readonly places: Semaphore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Wanted {
  readonly key: CatalogKey;
  readonly uid: string;
  readonly request: ImageRequest;
  readonly resolvedRef: string;
}

/** Brings content of images into the store. */
export class CatalogFetcher {
  readonly #options: FetcherOptions;

  constructor(options: FetcherOptions) {
    this.#options = options;
  }

  /**
   * Downloads an image by digest, unpacks it, and stores the content when it is whole.
   * @throws CatalogFailure
   */
  async fetch(
    { key, uid, request, resolvedRef }: Wanted,
    signal: AbortSignal,
  ): Promise<StoredContent> {
    const { images, store, places, now } = this.#options;
    const workspace = await store.workspace();
    try {
      const layout = join(workspace, 'image');
      await images.download(resolvedRef, { request, directory: layout, signal });
      const content = join(workspace, 'content');
      await places.run(
        () => this.#unpack({ layout, workspace, content, request, resolvedRef }, signal),
        signal,
      );
      const state = { uid, ref: request.ref, resolvedRef, unpackedAt: now() };
      return await store.put(key, state, content);
    } finally {
      await rm(workspace, { recursive: true, force: true });
    }
  }

  async #unpack(
    work: {
      readonly layout: string;
      readonly workspace: string;
      readonly content: string;
      readonly request: ImageRequest;
      readonly resolvedRef: string;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { unpack, limits } = this.#options;
    const { layout, content, workspace, request, resolvedRef: brokenRef } = work;
    const files = join(workspace, 'files');
    const problem = await unpack({ layout, ref: request.ref, files, content, limits }, signal);
    if (problem === undefined) return;
    throw new CatalogFailure(problem.step, problem.message, { brokenRef });
  }
}
