import type { KubernetesObject } from '../../../api/meta.ts';
import {
  errorMessage,
  type ReconcileContext,
  type ReconcileResult,
} from '../../../core/controller.ts';
import { parseImageReference, repositoryName } from '../../../core/registry/index.ts';
import type { CatalogFetcher } from '../content/catalog-fetcher.ts';
import type { CatalogKey, ContentStore, StoredState } from '../content/content-store.ts';
import type { CatalogRequest } from '../kinds/catalog-kind.ts';
import type { ServedCatalogs } from '../serving/served-catalogs.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { CatalogImages, ImageRequest } from '../source/catalog-image.ts';
import { CatalogWriter, type WriterOptions } from './catalog-writer.ts';
import { RefreshSchedule } from './refresh-schedule.ts';

export interface CatalogParts extends Omit<WriterOptions, 'adapter' | 'cache'> {
  readonly images: Pick<CatalogImages, 'resolve'>;
  readonly fetcher: Pick<CatalogFetcher, 'fetch'>;
  readonly store: ContentStore;
  readonly served: ServedCatalogs;
  /** Whether this process writes statuses and polls; the others follow the statuses. */
  readonly isLeading: () => boolean;
}

interface ReconcilerOptions extends CatalogParts, WriterOptions {}

/** One object in a reconcile. */
interface Work {
  readonly key: CatalogKey;
  readonly object: KubernetesObject;
  readonly request: CatalogRequest;
  readonly signal: AbortSignal;
}

interface Running {
  readonly generation: number | undefined;
  readonly abort: AbortController;
}

/** Brings the content of catalogs of one kind to this replica, and writes statuses as the leader. */
export class CatalogReconciler {
  readonly #options: ReconcilerOptions;
  readonly #schedule: RefreshSchedule;
  readonly #writer: CatalogWriter;
  readonly #running = new Map<string, Running>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#schedule = new RefreshSchedule(options.clock);
    this.#writer = new CatalogWriter(options);
  }

  /** Aborts the work on a former generation, or for an object that is being deleted. */
  changed(object: KubernetesObject): void {
    const { generation, deletionTimestamp, name = '' } = object.metadata;
    const running = this.#running.get(name);
    if (running === undefined) return;
    if (deletionTimestamp === undefined && running.generation === generation) return;
    running.abort.abort(new Error('the catalog has changed'));
  }

  /** Reconciles the object of this name. */
  async reconcile(
    name: string,
    { signal, stopping }: Pick<ReconcileContext, 'signal' | 'stopping'>,
  ): Promise<ReconcileResult> {
    const { cache, adapter } = this.#options;
    const object = cache.get({ name });
    const key = { kind: adapter.kind, name };
    if (object === undefined) return await this.#forget(key);
    const { generation } = object.metadata;
    const running = { generation, abort: new AbortController() };
    this.#running.set(name, running);
    const all = AbortSignal.any([signal, stopping, running.abort.signal]);
    try {
      return await this.#work({ key, object, request: adapter.read(object), signal: all });
    } catch (error) {
      // The queue has the changed object again.
      if (running.abort.signal.aborted && !signal.aborted) return {};
      throw error;
    } finally {
      this.#running.delete(name);
    }
  }

  async #work(work: Work): Promise<ReconcileResult> {
    const { key, object, request } = work;
    const { served, isLeading, adapter } = this.#options;
    if (object.metadata.deletionTimestamp !== undefined) return await this.#finalize(work);
    served.note({ ...key, labels: request.labels, priority: request.priority });
    if (!request.isAvailable) return await this.#switchOff(work);
    served.switchOn(key);
    await this.#restore(work);
    if (!isLeading()) return await this.#follow(work);
    const claimed = await this.#writer.relocate(await this.#writer.claim(object));
    const { image } = request;
    const current = { ...work, object: claimed };
    if (image instanceof CatalogFailure) return await this.#fail(current, image);
    await this.#recover(current, image);
    const wait = this.#untilRefresh(current, image);
    if (wait !== 0) {
      served.report(key, adapter.read(claimed).remembered.problem);
      return after(wait);
    }
    return await this.#refresh(current, image);
  }

  /** Serves what the disk has, unless it is served. */
  async #restore({ key, object, request }: Work): Promise<void> {
    const { served, store } = this.#options;
    const { uid = '' } = object.metadata;
    const state = served.stateOf(key);
    if (state?.uid === uid) return;
    if (state !== undefined) {
      await served.remove(key);
      served.note({ ...key, labels: request.labels, priority: request.priority });
    }
    const stored = await store.open(key, uid);
    if (stored !== undefined) await served.serve(key, stored);
  }

  /** Serves what the leader has written into the status. */
  async #follow(work: Work): Promise<ReconcileResult> {
    const { key, request } = work;
    const { served } = this.#options;
    const { image, remembered } = request;
    const { resolvedRef } = remembered;
    const isCurrent = served.stateOf(key)?.resolvedRef === resolvedRef;
    const isImage = !(image instanceof CatalogFailure);
    // Whoever may write the status alone must not choose another repository, or replace a digest.
    if (isImage && resolvedRef !== undefined && !isCurrent && isOf(image.ref, resolvedRef)) {
      await this.#fetch(work, image, resolvedRef);
    }
    served.report(key, remembered.problem);
    return {};
  }

  /**
   * Serves again what a former process has served and the disk has lost, by its digest: a restart
   * changes no content, and needs no tag.
   */
  async #recover(work: Work, image: ImageRequest): Promise<void> {
    const { key, object, request } = work;
    const { resolvedRef } = request.remembered;
    const isTried = this.#schedule.untilRetry(key.name, object.metadata.generation) !== undefined;
    if (resolvedRef === undefined || isTried) return;
    if (this.#options.served.stateOf(key) !== undefined || !isOf(image.ref, resolvedRef)) return;
    try {
      await this.#fetch(work, image, resolvedRef);
    } catch (error) {
      // The tag may have other content.
      if (!(error instanceof CatalogFailure)) throw error;
    }
  }

  async #fetch({ key, object, signal }: Work, request: ImageRequest, resolvedRef: string) {
    const { fetcher, served } = this.#options;
    const { uid = '' } = object.metadata;
    const stored = await fetcher.fetch({ key, uid, request, resolvedRef }, signal);
    await served.serve(key, stored);
    return stored.state;
  }

  /** Milliseconds until the image is looked at; undefined for never. */
  #untilRefresh({ key, object, request }: Work, image: ImageRequest): number | undefined {
    const { generation } = object.metadata;
    const retry = this.#schedule.untilRetry(key.name, generation);
    if (retry !== undefined) return retry;
    const state = this.#options.served.stateOf(key);
    const { remembered } = request;
    const isSettled =
      state !== undefined &&
      state.ref === image.ref &&
      state.resolvedRef === remembered.resolvedRef &&
      remembered.generation === generation;
    return isSettled ? this.#schedule.untilPoll(request) : 0;
  }

  async #refresh(work: Work, image: ImageRequest): Promise<ReconcileResult> {
    const { key, object, request } = work;
    const { clock, served } = this.#options;
    try {
      const state = await this.#bring(work, image).catch((error: unknown) => {
        throw asFailure(error, work.signal);
      });
      this.#schedule.succeeded(key.name);
      served.report(key, undefined);
      const at = clock.now();
      const packages = served.packagesOf(key);
      await this.#writer.write(object, { kind: 'unpacked', served: { ...state, packages }, at });
      const remembered = { ...request.remembered, polledAt: at };
      return after(this.#schedule.untilPoll({ ...request, remembered }));
    } catch (error) {
      if (error instanceof CatalogFailure) return await this.#fail(work, error);
      throw error;
    }
  }

  /** Serves the image's present content. */
  async #bring(work: Work, request: ImageRequest): Promise<StoredState> {
    const { key, object, signal } = work;
    const { images, served, store } = this.#options;
    const { uid = '' } = object.metadata;
    const resolvedRef = await images.resolve(request, signal);
    const current = served.stateOf(key);
    if (current?.uid === uid && current.resolvedRef === resolvedRef) {
      if (current.ref === request.ref) return current;
      const state = { ...current, ref: request.ref };
      await store.restate(key, state);
      served.restate(key, state);
      return state;
    }
    const broken = this.#schedule.brokenImage(key.name, resolvedRef);
    if (broken !== undefined) throw broken;
    return await this.#fetch(work, request, resolvedRef);
  }

  async #fail({ key, object, request }: Work, failure: CatalogFailure): Promise<ReconcileResult> {
    const { served, adapter } = this.#options;
    const { generation } = object.metadata;
    const delay = this.#schedule.failed(key.name, generation, failure);
    served.report(key, adapter.textOf(failure));
    const { image } = request;
    const isPinned = !(image instanceof CatalogFailure) && image.ref.includes('@');
    const isBlocked = failure.isFinal || (isPinned && failure.brokenRef !== undefined);
    const state = served.stateOf(key);
    const former = state && { ...state, packages: served.packagesOf(key) };
    await this.#writer.write(object, { kind: 'failed', failure, served: former, isBlocked });
    return after(delay);
  }

  /** Keeps the stored content, for when the catalog is available again. */
  async #switchOff({ key, object }: Work): Promise<ReconcileResult> {
    const { served, isLeading } = this.#options;
    await served.switchOff(key, 'Catalog availability mode is set to Unavailable');
    if (isLeading())
      await this.#writer.write(await this.#writer.claim(object), { kind: 'unavailable' });
    return {};
  }

  async #finalize({ key, object, signal }: Work): Promise<ReconcileResult> {
    const { isLeading } = this.#options;
    try {
      await this.#forget(key);
    } catch (error) {
      const message = errorMessage(error);
      if (isLeading()) await this.#writer.write(object, { kind: 'deletion failed', message });
      throw error;
    }
    if (!isLeading()) return {};
    await this.#writer.release(object, signal);
    return {};
  }

  async #forget(key: CatalogKey): Promise<ReconcileResult> {
    const { served, store } = this.#options;
    this.#schedule.succeeded(key.name);
    await served.remove(key);
    await store.remove(key);
    return {};
  }
}

/** Whether a reference can stand for a digest: of its repository, and its own digest if it has one. */
function isOf(ref: string, resolvedRef: string): boolean {
  try {
    const reference = parseImageReference(ref);
    const { digest } = reference;
    const prefix = `${repositoryName(reference)}@`;
    return digest === undefined
      ? resolvedRef.startsWith(prefix)
      : resolvedRef === `${prefix}${digest}`;
  } catch {
    return false;
  }
}

/** Infinity and undefined are never. */
function after(ms: number | undefined): ReconcileResult {
  return ms !== undefined && Number.isFinite(ms) ? { requeueAfter: ms } : {};
}

/** Also what the image is not to blame for, such as a full disk, is told in the status. */
function asFailure(error: unknown, signal: AbortSignal): CatalogFailure {
  signal.throwIfAborted();
  if (error instanceof CatalogFailure) return error;
  return new CatalogFailure('image', errorMessage(error), { cause: error });
}
