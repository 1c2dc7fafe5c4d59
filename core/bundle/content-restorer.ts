import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { finalizer } from '../../api/v1alpha1/labels.ts';
import { errorMessage, WaitingError } from '../errors.ts';
import { abortable } from '../platform/clock.ts';
import type { ContentMetrics } from '../platform/observe/index.ts';
import { type BundleCache, storedContentKey, type UnpackDependencies } from './dependencies.ts';
import { isPinned } from './fetch/pin.ts';
import { unpack } from './unpack.ts';

interface ContentRestorerDependencies extends UnpackDependencies {
  readonly cache: Pick<BundleCache, 'get'>;
  readonly metrics: { readonly content: Pick<ContentMetrics, 'restored'> };
  /** Aborted when the process ends. */
  readonly signal: AbortSignal;
}

interface Restoring {
  readonly done: Promise<void>;
  readonly stop: AbortController;
}

/** Milliseconds; clients are told to retry after the same time. */
const failedFor = 10_000;

/**
 * Restores content of unpacked Bundles that this process lacks, because it has lost it or another
 * process unpacked it. Writes no status, because only the leader may.
 */
export class ContentRestorer {
  readonly #dependencies: ContentRestorerDependencies;
  /** By UID, including those that failed just now. */
  readonly #running = new Map<string, Restoring>();

  constructor(dependencies: ContentRestorerDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Whether this process can restore content of this Bundle. Without core's finalizer somebody else
   * has written the status, and the pin in it.
   */
  canRestore({ metadata, spec, status }: Bundle): boolean {
    return (
      status?.phase === 'Unpacked' &&
      metadata.deletionTimestamp === undefined &&
      metadata.finalizers?.includes(finalizer.deleteCachedBundle) === true &&
      this.#dependencies.provisioners.has(spec.provisionerClassName)
    );
  }

  /**
   * Resolves when the content is stored; concurrent callers share one fetch. The fetch continues
   * when the signal ends the wait, while the Bundle exists.
   * @throws WaitingError in one sentence when the content is not available now.
   */
  async restore(bundle: Bundle, signal: AbortSignal): Promise<void> {
    const { uid } = storedContentKey(bundle);
    const { done } = this.#running.get(uid) ?? this.#start(bundle, uid);
    await abortable(done, signal);
  }

  /** Stops restoring a deleted Bundle, to free its memory and places. */
  abandon(uid: string): void {
    this.#running.get(uid)?.stop.abort(new Error('the Bundle is being deleted'));
  }

  #start(bundle: Bundle, uid: string): Restoring {
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#dependencies.signal, stop.signal]);
    const restoring = { done: this.#restore(bundle, signal), stop };
    this.#running.set(uid, restoring);
    const forget = () => this.#running.delete(uid);
    restoring.done.then(forget, () => this.#pause().finally(forget));
    return restoring;
  }

  /** Waits after a failure: an immediate retry would fail again, and burden the server. */
  async #pause(): Promise<void> {
    const { clock, signal } = this.#dependencies;
    await clock.sleep(failedFor, signal).catch(() => undefined);
  }

  async #restore(bundle: Bundle, signal: AbortSignal): Promise<void> {
    const { release, logger, metrics } = this.#dependencies;
    const { name } = storedContentKey(bundle);
    try {
      await this.#unpack(bundle, signal);
      // Deleted meanwhile: no finalizer is left to delete the stored content.
      if (!this.#isCurrent(bundle)) await release(bundle);
      metrics.content.restored('success');
    } catch (error) {
      metrics.content.restored('error');
      const message = `the content of Bundle "${name}" is not stored here and could not be fetched again: ${errorMessage(error)}`;
      logger.warn({ bundle: name, error: errorMessage(error) }, 'cannot restore content');
      throw new WaitingError(message, { cause: error });
    }
  }

  async #unpack(bundle: Bundle, signal: AbortSignal): Promise<void> {
    const { logger, sources, takeBack } = this.#dependencies;
    if (await takeBack(storedContentKey(bundle))) return;
    if (!isPinned(bundle, sources)) throw new Error('its status does not say which content it has');
    const state = { bundle, status: bundle.status ?? {} };
    await unpack(state, this.#dependencies, { signal, stopping: signal, logger });
  }

  #isCurrent({ metadata: { name = '', uid } }: Bundle): boolean {
    return this.#dependencies.cache.get({ name })?.metadata.uid === uid;
  }
}
