import type { KubernetesObject } from '../../../api/meta.ts';
import type { CatalogFetcher } from '../content/catalog-fetcher.ts';
import type {
  CatalogKey,
  ContentStore,
  StoredContent,
  StoredState,
} from '../content/content-store.ts';
import type { CatalogRequest } from '../kinds/catalog-kind.ts';
import { isOf, namedContent } from '../kinds/named-content.ts';
import type { ServedCatalogs } from '../serving/served-catalogs.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { ImageRequest } from '../source/catalog-image.ts';

export interface ContentParts {
  readonly fetcher: Pick<CatalogFetcher, 'fetch'>;
  readonly store: ContentStore;
  readonly served: ServedCatalogs;
}

/** One object in a reconcile. */
export interface CatalogWork {
  readonly key: CatalogKey;
  readonly object: KubernetesObject;
  readonly request: CatalogRequest;
  readonly signal: AbortSignal;
}

/** The same, with an image in the spec. */
export interface ImageWork extends CatalogWork {
  readonly request: CatalogRequest & { readonly image: ImageRequest };
}

/** Whether the spec has an image that can be asked for. */
export function hasImage(work: CatalogWork): work is ImageWork {
  return !(work.request.image instanceof CatalogFailure);
}

/** The contents of catalogs that this replica has: on its disk, and served. */
export class LocalContent {
  readonly #parts: ContentParts;

  constructor(parts: ContentParts) {
    this.#parts = parts;
  }

  note({ key, request }: CatalogWork): void {
    const { served } = this.#parts;
    const { labels, priority } = request;
    served.note({ ...key, labels, priority });
    served.expect(key, namedContent(request));
  }

  /** What is served; undefined for nothing. */
  stateOf({ key }: CatalogWork): StoredState | undefined {
    return this.#parts.served.stateOf(key);
  }

  /** Serves what the disk has, unless it is served. */
  async restore(work: CatalogWork): Promise<void> {
    const { served, store } = this.#parts;
    const { key, object } = work;
    const { uid = '' } = object.metadata;
    const state = served.stateOf(key);
    if (state?.uid === uid) return;
    if (state !== undefined) {
      await served.remove(key);
      this.note(work);
    }
    const stored = await store.open(key, uid);
    if (stored !== undefined) await this.serve(work, stored);
  }

  /** Content by its digest: of the disk, or downloaded. @throws CatalogFailure */
  async download(
    { key, object, request: { image }, signal }: ImageWork,
    resolvedRef: string,
  ): Promise<StoredContent> {
    const { uid = '' } = object.metadata;
    const { store } = this.#parts;
    // It is there if the status could not be written.
    const stored = await store.open(key, uid, resolvedRef);
    if (stored !== undefined) {
      const state = { ...stored.state, ref: image.ref };
      await store.restate(key, state);
      return { ...stored, state };
    }
    return await this.#parts.fetcher.fetch({ key, uid, request: image, resolvedRef }, signal);
  }

  /**
   * Fetches again what is served, if the disk has damaged it, which stays in use meanwhile.
   * @throws CatalogFailure, Error for a disk that damages it again
   */
  async mend(work: CatalogWork): Promise<void> {
    const { key, signal } = work;
    const { served, fetcher } = this.#parts;
    const state = served.stateOf(key);
    if (state === undefined || !hasImage(work) || !served.isDamaged(key)) return;
    const { uid, resolvedRef } = state;
    // Content of another repository is replaced when the registry of the new one has it.
    if (!isOf(work.request.image.ref, resolvedRef)) return;
    const wanted = { key, uid, request: work.request.image, resolvedRef };
    const stored = await fetcher.fetch(wanted, signal);
    // Whoever reads it would ask for another download at once.
    if (await stored.content.isWhole()) return await this.serve(work, stored);
    await stored.content[Symbol.asyncDispose]();
    throw new Error('the disk has damaged the content of the catalog again');
  }

  async serve({ key }: CatalogWork, stored: StoredContent): Promise<void> {
    const { served, store } = this.#parts;
    await served.serve(key, stored);
    await store.removeFormer(key, stored.state);
  }

  /**
   * Serves content once a write of the status names it: what is installed from content that the
   * status does not name yet would be taken back by the next leader, if this one is killed.
   */
  async serveNext(
    work: CatalogWork,
    stored: StoredContent,
    write: () => Promise<void>,
  ): Promise<void> {
    const { key } = work;
    const { served } = this.#parts;
    served.announce(key, stored.state.resolvedRef);
    try {
      await write();
    } catch (error) {
      served.announce(key, undefined);
      await stored.content[Symbol.asyncDispose]();
      throw error;
    }
    await this.serve(work, stored);
  }

  /** Notes that the content, as it is, is also that of the spec's reference. */
  async restate({ key, request: { image } }: ImageWork, state: StoredState): Promise<StoredState> {
    if (state.ref === image.ref) return state;
    const { served, store } = this.#parts;
    const restated = { ...state, ref: image.ref };
    await store.restate(key, restated);
    served.restate(key, restated);
    return restated;
  }

  async forget(key: CatalogKey): Promise<void> {
    const { served, store } = this.#parts;
    await served.remove(key);
    await store.remove(key);
  }
}
