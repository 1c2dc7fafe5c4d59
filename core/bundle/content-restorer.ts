import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { errorMessage, WaitingError } from '../errors.ts';
import { aborted } from '../platform/clock.ts';
import type { ContentMetrics } from '../platform/observe/index.ts';
import { type BundleCache, storedContentKey, type UnpackDependencies } from './dependencies.ts';
import { isPinned } from './pin.ts';
import { unpack } from './unpack.ts';

interface ContentRestorerDependencies extends UnpackDependencies {
  readonly cache: Pick<BundleCache, 'get'>;
  readonly metrics: { readonly content: Pick<ContentMetrics, 'restored'> };
  /** The life of the process. */
  readonly signal: AbortSignal;
}

interface Restoring {
  readonly done: Promise<void>;
  readonly stop: AbortController;
}

/** Milliseconds; clients are told to come back after as long. */
const failedFor = 10_000;

/**
 * Brings back content of Bundles that are unpacked, where this process does not have it: it has
 * lost it, or another one unpacked it. Writes no status: that is the leader's alone.
 */
export class ContentRestorer {
  readonly #dependencies: ContentRestorerDependencies;
  /** By UID, with those that failed just now. */
  readonly #running = new Map<string, Restoring>();

  constructor(dependencies: ContentRestorerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether content of this Bundle is a thing to restore here. */
  canRestore({ metadata, spec, status }: Bundle): boolean {
    return (
      status?.phase === 'Unpacked' &&
      metadata.deletionTimestamp === undefined &&
      this.#dependencies.provisioners.has(spec.provisionerClassName)
    );
  }

  /**
   * Resolves when the content is stored; whoever asks at the same time waits for the same fetch. It
   * goes on when the signal ends the waiting, as long as there is the Bundle.
   * @throws WaitingError in one sentence where the content cannot be had now.
   */
  async restore(bundle: Bundle, signal: AbortSignal): Promise<void> {
    const { uid } = storedContentKey(bundle);
    const { done } = this.#running.get(uid) ?? this.#start(bundle, uid);
    await Promise.race([done, aborted(signal)]);
    signal.throwIfAborted();
  }

  /** Ends the restoring of a Bundle that is deleted: nobody waits for what it would take from others. */
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

  /** What has just failed would fail again, and its server has others to serve. */
  async #pause(): Promise<void> {
    const { clock, signal } = this.#dependencies;
    await clock.sleep(failedFor, signal).catch(() => undefined);
  }

  async #restore(bundle: Bundle, signal: AbortSignal): Promise<void> {
    const { release, logger, metrics } = this.#dependencies;
    const { name } = storedContentKey(bundle);
    try {
      await this.#unpack(bundle, signal);
      // Deleted meanwhile: nobody else will remove what was just stored.
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
    const { logger, sources } = this.#dependencies;
    if (!isPinned(bundle, sources)) throw new Error('its status does not say which content it has');
    const state = { bundle, status: bundle.status ?? {} };
    await unpack(state, this.#dependencies, { signal, stopping: signal, logger });
  }

  #isCurrent({ metadata: { name = '', uid } }: Bundle): boolean {
    return this.#dependencies.cache.get({ name })?.metadata.uid === uid;
  }
}
