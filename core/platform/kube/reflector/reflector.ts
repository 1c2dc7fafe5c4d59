import type { KubernetesObject } from '../../../../api/meta.ts';
import { abortable } from '../../clock.ts';
import { ApiError, apiErrorOfStatus } from '../api-error.ts';
import type { WatchEvent } from '../kube-client.ts';
import { compareResourceVersions } from '../resource.ts';
import { InitialEvents, listAll, refusesInitialEvents } from './list.ts';
import type { ReflectorOptions } from './reflector-options.ts';
import { WatchHealth } from './watch-health.ts';

interface WatchSpan {
  /** Ends the watch from this side. */
  readonly ended: AbortController;
  readonly signal: AbortSignal;
  /** Seconds after which the server ends the watch. */
  readonly timeoutSeconds: number;
}

/**
 * Keeps a sink equal to a resource's objects. Starts with a watch that streams all of them, or with
 * a list followed by a watch when the server does not stream lists. Resumes when a watch ends, and
 * starts again when the server has forgotten the version. Retries every error, and never gives up.
 */
export class Reflector<T extends KubernetesObject = KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #transform: (object: KubernetesObject) => T;
  readonly #health: WatchHealth;
  #nextList = Promise.withResolvers<void>();
  /** Ends the present list, watch or pause. */
  #round = new AbortController();
  #synced = false;
  /** Version to watch from; undefined to request everything. */
  #resourceVersion: string | undefined;
  /** The server was unavailable: its store may have been restored to before that version. */
  #doubtful = false;
  /** The received part of a streamed list. */
  #initial: InitialEvents<T> | undefined;
  #streams = true;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#health = new WatchHealth(options);
    this.#transform = options.transform ?? ((object) => stripManagedFields(object) as T);
  }

  /** Whether the sink has received a whole list. */
  get synced(): boolean {
    return this.#synced;
  }

  /** The present error of list or watch; undefined while they work. */
  get lastError(): Error | undefined {
    return this.#health.lastError;
  }

  /** Milliseconds for which list or watch have failed; 0 while they work. */
  get failingFor(): number {
    return this.#health.failingFor;
  }

  /** Resolves at the first whole list; rejects with the signal's reason. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    if (!this.#synced) await abortable(this.#nextList.promise, signal);
  }

  /**
   * Requests everything anew, and resolves when the sink has all that was written before the call:
   * an open watch may be silent or behind. Rejects with the signal's reason.
   */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#resourceVersion = undefined;
    this.#round.abort(new Error('everything is requested anew'));
    await abortable(this.#nextList.promise, signal);
  }

  /** Resolves when the signal is aborted, and never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#round = new AbortController();
      await this.#turn(AbortSignal.any([signal, this.#round.signal]));
    }
  }

  /** One watch, with the list before it and the pause after an error. */
  async #turn(signal: AbortSignal): Promise<void> {
    try {
      await this.#checkPlace(signal);
      if (this.#resourceVersion === undefined && !this.#streams) await this.#list(signal);
      await this.#watch(signal);
    } catch (error) {
      if (signal.aborted || this.#mustList(error) || this.#health.forgotten(error)) return;
      const pause = this.#health.failed(error);
      await this.#options.clock.sleep(pause, signal).catch(() => undefined);
    }
  }

  get #selection() {
    const { namespace, labelSelector, fieldSelector, metadataOnly } = this.#options;
    return { namespace, labelSelector, fieldSelector, metadataOnly };
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, pageSize, sink } = this.#options;
    sink.listing?.();
    const list = await listAll(client, resource, {
      ...this.#selection,
      pageSize,
      signal,
      transform: this.#transform,
    });
    signal.throwIfAborted();
    sink.replace(list.items, list.resourceVersion);
    this.#resourceVersion = list.resourceVersion;
    this.#hasSynced();
  }

  /**
   * Checks with one request whether the server's store was restored to a state before the known
   * version: a watch from a future version is silent. If so, requests everything. Requests
   * everything as well after a longer outage, because a restored store may have passed that version
   * again.
   */
  async #checkPlace(signal: AbortSignal): Promise<void> {
    const place = this.#resourceVersion;
    if (this.#doubtful && place !== undefined) {
      const { client, resource } = this.#options;
      const options = { ...this.#selection, metadataOnly: true, limit: 1, signal };
      // The version counts only after the server has confirmed it.
      this.#resourceVersion = undefined;
      const { metadata } = await client.list(resource, options);
      signal.throwIfAborted();
      const order = compareResourceVersions(metadata.resourceVersion, place);
      if (order === undefined || order >= 0) this.#resourceVersion = place;
    }
    this.#doubtful = false;
  }

  #hasSynced(): void {
    this.#synced = true;
    this.#nextList.resolve();
    this.#nextList = Promise.withResolvers<void>();
  }

  /** Switches to lists when the server does not stream them. */
  #mustList(error: unknown): boolean {
    if (this.#initial === undefined || !refusesInitialEvents(error)) return false;
    this.#initial = undefined;
    this.#streams = false;
    return true;
  }

  /**
   * One watch, until its end.
   * @throws Error when the next watch must not start at once.
   */
  async #watch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const ended = new AbortController();
    const watchSignal = AbortSignal.any([signal, ended.signal]);
    const startedAt = clock.monotonic();
    const timeoutSeconds = 300 + Math.floor(Math.random() * 300);
    let events = 0;
    try {
      for await (const event of this.#open({ ended, signal: watchSignal, timeoutSeconds })) {
        if (signal.aborted) return;
        this.#take(event);
        events++;
      }
    } catch (error) {
      // A refusal makes the version doubtful; a broken connection does not.
      if (error instanceof ApiError && error.code !== 429) this.#resourceVersion = undefined;
      this.#doubtful = true;
      throw error;
    } finally {
      ended.abort();
    }
    // A server that shuts down ends its watches before their time.
    this.#doubtful = clock.monotonic() - startedAt < (timeoutSeconds - 1) * 1000;
    if (events === 0 && clock.monotonic() - startedAt < 1000)
      throw new Error('the watch ended at once');
  }

  #open({ ended, signal, timeoutSeconds }: WatchSpan): AsyncIterable<WatchEvent> {
    const { client, resource, clock, sink } = this.#options;
    const sendInitialEvents = this.#resourceVersion === undefined;
    this.#initial = sendInitialEvents ? new InitialEvents(this.#transform) : undefined;
    if (this.#initial !== undefined) sink.listing?.();
    const onOpen = (): void => {
      this.#health.opened(signal);
      void this.#initial?.expect(ended, clock);
    };
    return client.watch(resource, {
      ...this.#selection,
      resourceVersion: this.#resourceVersion ?? '',
      ...(sendInitialEvents && { sendInitialEvents }),
      timeoutSeconds,
      onOpen,
      signal,
    });
  }

  #take({ type, object }: WatchEvent): void {
    if (type === 'ERROR') throw apiErrorOfStatus(object);
    if (this.#initial !== undefined) {
      this.#takeInitial(this.#initial, { type, object });
      return;
    }
    const { sink } = this.#options;
    if (type === 'DELETED') sink.remove(this.#transform(object));
    if (type === 'ADDED' || type === 'MODIFIED') sink.upsert(this.#transform(object));
    this.#resourceVersion = object.metadata.resourceVersion;
    this.#health.works();
  }

  #takeInitial(initial: InitialEvents<T>, event: WatchEvent): void {
    const items = initial.take(event);
    if (items === undefined) return;
    this.#initial = undefined;
    const { resourceVersion = '' } = event.object.metadata;
    this.#options.sink.replace(items, resourceVersion);
    this.#resourceVersion = resourceVersion;
    this.#hasSynced();
    this.#health.works();
  }
}

/** managedFields are often half of an object, and only the API server needs them. */
function stripManagedFields(object: KubernetesObject): KubernetesObject {
  if (!('managedFields' in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata as typeof object.metadata & {
    readonly managedFields: unknown;
  };
  return { ...object, metadata };
}
