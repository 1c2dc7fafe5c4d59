import type { KubernetesObject } from '../../../api/meta.ts';
import {
  type Clock,
  type EventSink,
  errorMessage,
  type IndexedCache,
  type KubeClient,
  keyOf,
  type ReconcileContext,
  type ReconcileResult,
  removeFinalizer,
  statusPatch,
} from '../../../core/controller.ts';
import type { CatalogFetcher } from '../content/catalog-fetcher.ts';
import type { CatalogKey, ContentStore, StoredState } from '../content/content-store.ts';
import type { CatalogKindAdapter, CatalogOutcome, CatalogRequest } from '../kinds/catalog-kind.ts';
import type { ServedCatalogs } from '../serving/served-catalogs.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { CatalogImages, ImageRequest } from '../source/catalog-image.ts';
import { untilPoll } from './poll-schedule.ts';
import { Retries } from './retries.ts';

export interface CatalogParts {
  readonly client: KubeClient;
  readonly images: Pick<CatalogImages, 'resolve'>;
  readonly fetcher: Pick<CatalogFetcher, 'fetch'>;
  readonly store: ContentStore;
  readonly served: ServedCatalogs;
  /** Whether this process writes statuses and polls; the others follow the statuses. */
  readonly isLeading: () => boolean;
  readonly events: EventSink;
  /** Base URL of the content server, without a slash at the end. */
  readonly address: string;
  readonly clock: Clock;
}

interface ReconcilerOptions extends CatalogParts {
  readonly adapter: CatalogKindAdapter;
  readonly cache: IndexedCache;
}

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
  readonly #retries: Retries;
  readonly #running = new Map<string, Running>();
  /** Spreads the polls of this process's catalogs. */
  readonly #chance = Math.random();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#retries = new Retries(() => options.clock.monotonic());
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
    const claimed = await this.#claim(object);
    const { image } = request;
    const current = { ...work, object: claimed };
    if (image instanceof CatalogFailure) return await this.#fail(current, image);
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
  async #follow({ key, object, request, signal }: Work): Promise<ReconcileResult> {
    const { served } = this.#options;
    const { image, remembered } = request;
    const { resolvedRef } = remembered;
    const isCurrent = served.stateOf(key)?.resolvedRef === resolvedRef;
    if (resolvedRef !== undefined && !isCurrent && !(image instanceof CatalogFailure)) {
      const { uid = '' } = object.metadata;
      const { fetcher } = this.#options;
      await served.serve(
        key,
        await fetcher.fetch({ key, uid, request: image, resolvedRef }, signal),
      );
    }
    served.report(key, remembered.problem);
    return {};
  }

  /** Milliseconds until the image is looked at; undefined for never. */
  #untilRefresh({ key, object, request }: Work, image: ImageRequest): number | undefined {
    const { served, clock } = this.#options;
    const { generation } = object.metadata;
    const retry = this.#retries.remaining(key.name, generation);
    if (retry !== undefined) return retry;
    const state = served.stateOf(key);
    const { remembered } = request;
    const isSettled =
      state !== undefined &&
      state.ref === image.ref &&
      state.resolvedRef === remembered.resolvedRef &&
      remembered.generation === generation;
    return isSettled ? untilPoll(request, { now: clock.now(), chance: this.#chance }) : 0;
  }

  async #refresh(work: Work, image: ImageRequest): Promise<ReconcileResult> {
    const { key, object, request } = work;
    const { clock, served } = this.#options;
    try {
      const state = await this.#bring(work, image);
      this.#retries.succeeded(key.name);
      served.report(key, undefined);
      const at = clock.now();
      const packages = served.packagesOf(key);
      await this.#write(object, { kind: 'unpacked', served: { ...state, packages }, at });
      const remembered = { ...request.remembered, polledAt: at };
      const next = untilPoll({ ...request, remembered }, { now: at, chance: this.#chance });
      return after(next);
    } catch (error) {
      if (error instanceof CatalogFailure) return await this.#fail(work, error);
      throw error;
    }
  }

  /** Serves the image's present content. */
  async #bring({ key, object, signal }: Work, request: ImageRequest): Promise<StoredState> {
    const { images, fetcher, served, store } = this.#options;
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
    const broken = this.#retries.brokenImage(key.name, resolvedRef);
    if (broken !== undefined) throw broken;
    const stored = await fetcher.fetch({ key, uid, request, resolvedRef }, signal);
    await served.serve(key, stored);
    return stored.state;
  }

  async #fail({ key, object, request }: Work, failure: CatalogFailure): Promise<ReconcileResult> {
    const { served, adapter } = this.#options;
    const { generation } = object.metadata;
    const delay = this.#retries.failed(key.name, generation, failure);
    served.report(key, adapter.textOf(failure));
    const { image } = request;
    const isPinned = !(image instanceof CatalogFailure) && image.ref.includes('@');
    const isBlocked = failure.isFinal || (isPinned && failure.brokenRef !== undefined);
    const state = served.stateOf(key);
    const former = state && { ...state, packages: served.packagesOf(key) };
    await this.#write(object, { kind: 'failed', failure, served: former, isBlocked });
    return after(delay);
  }

  /** Keeps the stored content, for when the catalog is available again. */
  async #switchOff({ key, object }: Work): Promise<ReconcileResult> {
    const { served, isLeading } = this.#options;
    await served.switchOff(key, 'Catalog availability mode is set to Unavailable');
    if (isLeading()) await this.#write(await this.#claim(object), { kind: 'unavailable' });
    return {};
  }

  async #finalize({ key, object, signal }: Work): Promise<ReconcileResult> {
    const { client, adapter, cache, isLeading } = this.#options;
    const { resource, finalizer } = adapter;
    try {
      await this.#forget(key);
    } catch (error) {
      const message = errorMessage(error);
      if (isLeading()) await this.#write(object, { kind: 'deletion failed', message });
      throw error;
    }
    if (!isLeading()) return {};
    const target = { client, resource, signal };
    const written = await removeFinalizer(target, object, finalizer);
    if (written !== undefined) cache.upsertIfNewer(written);
    return {};
  }

  async #forget(key: CatalogKey): Promise<ReconcileResult> {
    const { served, store } = this.#options;
    this.#retries.succeeded(key.name);
    await served.remove(key);
    await store.remove(key);
    return {};
  }

  /** The object with its finalizer and labels. */
  async #claim(object: KubernetesObject): Promise<KubernetesObject> {
    const { adapter, client, cache } = this.#options;
    const { uid, resourceVersion, name = '', labels = {}, finalizers = [] } = object.metadata;
    const wanted = adapter.labelsOf(name);
    const hasLabels = Object.entries(wanted).every(([label, value]) => labels[label] === value);
    const isMarked = finalizers.includes(adapter.finalizer);
    if (hasLabels && isMarked) return object;
    const marks = isMarked ? finalizers : [...finalizers, adapter.finalizer];
    const metadata = { uid, resourceVersion, labels: wanted, finalizers: marks };
    const target = { resource: adapter.resource, key: keyOf(object) };
    const written = await client.patch(target, { metadata }, { type: 'merge' });
    cache.upsertIfNewer(written);
    return written;
  }

  async #write(object: KubernetesObject, outcome: CatalogOutcome): Promise<void> {
    const { adapter, client, cache, events, address, clock } = this.#options;
    const patch = statusPatch(object, adapter.status(object, outcome, { address, clock }));
    if (patch === undefined) return;
    const target = { resource: adapter.resource, key: keyOf(object) };
    const written = await client.patch(target, patch, { type: 'json', subresource: 'status' });
    cache.upsertIfNewer(written);
    const { remembered: before } = adapter.read(object);
    const { remembered: now } = adapter.read(written);
    if (outcome.kind === 'unpacked' && before.resolvedRef !== now.resolvedRef) {
      const message = `Serving the content of ${outcome.served.resolvedRef}.`;
      events.event(written, { type: 'Normal', reason: 'Unpacked', message });
    }
    if (outcome.kind === 'failed' && before.problem !== now.problem) {
      const former = outcome.served && ` Still serving ${outcome.served.resolvedRef}.`;
      const message = `${adapter.textOf(outcome.failure)}.${former ?? ''}`;
      events.event(written, { type: 'Warning', reason: 'UnpackFailed', message });
    }
  }
}

/** Infinity and undefined are never. */
function after(ms: number | undefined): ReconcileResult {
  return ms !== undefined && Number.isFinite(ms) ? { requeueAfter: ms } : {};
}
