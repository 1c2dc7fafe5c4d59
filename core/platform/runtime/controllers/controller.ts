import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../contracts/logger.ts';
import { errorMessage, TerminalError, WaitingError } from '../../../errors.ts';
import { aborted } from '../../clock.ts';
import { ApiError, isConflict } from '../../kube/index.ts';
import type { QueueSnapshot } from '../../observe/index.ts';
import type { Precedence } from '../queue/claims.ts';
import type { FairSemaphore } from '../queue/semaphore.ts';
import { WorkQueue } from '../queue/work-queue.ts';
import { conditionMessage } from '../status.ts';
import type {
  ControllerOptions,
  ReconcileContext,
  ReconcileOutcome,
  ReconcileResult,
} from './controller-options.ts';

type Signals = Pick<ReconcileContext, 'signal' | 'stopping'>;

/** Milliseconds that an aborted reconcile may take to return before the stop ignores it. */
const abortGrace = 5_000;

const defaultWorkers = 8;

/** Reconciles keys of a work queue with several workers. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  /** Key → start time. */
  readonly #running = new Map<string, number>();

  constructor(options: ControllerOptions) {
    const { name, workers = defaultWorkers, claimOf, creatorOf, clock, metrics } = options;
    this.#options = options;
    this.#queue = new WorkQueue(clock, {
      onAdd: () => metrics?.queues.added(name),
      places: workers,
      ...(claimOf === undefined ? {} : { claimOf }),
      ...(creatorOf === undefined ? {} : { creatorOf }),
    });
    metrics?.queues.watch(name, () => this.#snapshot());
    metrics?.controllers.maxWorkers(name, workers);
  }

  /** Uses the precedence of the key's claim by default. */
  enqueue(key: string, precedence?: Precedence): void {
    this.#queue.add(key, precedence);
  }

  /** `ms` milliseconds from now. */
  enqueueAfter(key: string, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /**
   * Works until the signal is aborted; resolves when the running reconciles are finished. `lost`
   * aborts them at once, because two processes must not write at the same time.
   */
  async run(signal: AbortSignal, lost: AbortSignal = new AbortController().signal): Promise<void> {
    const { stopGrace = 20_000 } = this.#options;
    const reconciles = new AbortController();
    const stopped = new AbortController();
    const running = this.#serve(signal, reconciles.signal).finally(() => stopped.abort());
    await Promise.race([aborted(signal), running]);
    this.#queue.shutDown();
    await this.#pause(stopGrace, AbortSignal.any([stopped.signal, lost]));
    if (stopped.signal.aborted) return;
    const cause = lost.aborted
      ? 'are aborted: leadership is lost'
      : 'took too long and are aborted';
    this.#log(`stopping: running reconciles ${cause}`);
    reconciles.abort(lost.aborted ? lost.reason : new Error('the controller stops'));
    await Promise.race([running, this.#pause(abortGrace, stopped.signal)]);
    if (!stopped.signal.aborted) this.#log('stopping: a reconcile ignores its signal');
  }

  /** Works on keys until the stop; resolves when all started work has ended. */
  async #serve(stopping: AbortSignal, signal: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    for (;;) {
      // The queue hands out at most as many as there are workers.
      const key = await this.#queue.get(stopping);
      if (key === undefined) break;
      const own = this.#options.ownWorkers?.(key);
      if (own !== undefined) this.#queue.leave(key);
      const work = this.#workWith(own, key, { signal, stopping }).finally(() =>
        running.delete(work),
      );
      running.add(work);
    }
    await Promise.all(running);
  }

  async #workWith(own: FairSemaphore | undefined, key: string, signals: Signals): Promise<void> {
    if (own === undefined) return await this.#work(key, signals);
    const claim = this.#options.claimOf?.(key) ?? { creator: '' };
    const leave = await own.take(claim, signals.stopping).catch(() => undefined);
    if (leave === undefined) return;
    await this.#work(key, signals).finally(leave);
  }

  async #work(key: string, signals: Signals): Promise<void> {
    const { name, clock, metrics } = this.#options;
    metrics?.queues.waited(name, this.#queue.waited(key) / 1000);
    const startedAt = clock.monotonic();
    this.#running.set(key, startedAt);
    this.#reportActive();
    try {
      await this.#reconcile(key, signals);
    } finally {
      metrics?.queues.worked(name, (clock.monotonic() - startedAt) / 1000);
      this.#running.delete(key);
      this.#queue.done(key);
      this.#reportActive();
    }
  }

  async #reconcile(key: string, signals: Signals): Promise<void> {
    const { name, kind, clock, metrics } = this.#options;
    const object = { controller: name, kind, name: key, reconcileID: randomUUID() };
    const logger = this.#options.logger.child(object);
    const startedAt = clock.monotonic();
    logger.debug({}, 'reconciling');
    const wakeAfter = (ms: number): void => this.#queue.addAfter(key, ms);
    const outcome = await this.#outcomeOf(key, { ...signals, logger, wakeAfter });
    const seconds = (clock.monotonic() - startedAt) / 1000;
    logger.debug({ outcome, seconds }, 'reconciled');
    metrics?.controllers.reconcileTotal(name, outcome);
    metrics?.controllers.reconcileTime(name, seconds);
  }

  async #outcomeOf(key: string, context: ReconcileContext): Promise<ReconcileOutcome> {
    try {
      return this.#succeeded(key, (await this.#options.reconcile(key, context)) ?? {});
    } catch (error) {
      return this.#failed(key, error, context);
    }
  }

  #succeeded(key: string, { requeueAfter }: ReconcileResult): ReconcileOutcome {
    this.#queue.forget(key);
    if (requeueAfter === undefined) return 'success';
    this.#queue.addAfter(key, requeueAfter);
    return 'requeue_after';
  }

  #failed(key: string, error: unknown, context: ReconcileContext): ReconcileOutcome {
    const { signal, stopping, logger } = context;
    if (signal.aborted || (stopping.aborted && error === stopping.reason)) return 'error';
    logFailure(logger, error, this.#queue.retries(key) + 1);
    if (!isRetried(error)) {
      this.#queue.forget(key);
    } else {
      if (error instanceof WaitingError) this.#queue.addWaiting(key);
      else this.#queue.addRateLimited(key);
      this.#options.metrics?.queues.retried(this.#options.name);
    }
    return 'error';
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(ms, signal).catch(() => undefined);
  }

  #log(message: string): void {
    const { name: controller, logger } = this.#options;
    logger.warn({ controller, running: this.#running.size }, message);
  }

  #reportActive(): void {
    const { name, metrics } = this.#options;
    metrics?.controllers.activeWorkers(name, this.#running.size);
  }

  #snapshot(): QueueSnapshot {
    const now = this.#options.clock.monotonic();
    return {
      depth: this.#queue.length,
      oldestAge: this.#queue.oldestAge / 1000,
      running: [...this.#running.values()].map((startedAt) => (now - startedAt) / 1000),
    };
  }
}

function isRetried(error: unknown): boolean {
  if (error instanceof WaitingError) return error.retry === 'back-off';
  return !(error instanceof TerminalError);
}

function logFailure(logger: Logger, error: unknown, tries: number): void {
  // Errors may quote foreign text and users' secrets.
  const fields = { error: conditionMessage(errorMessage(error)), tries };
  if (error instanceof WaitingError) logger.info(fields, 'waiting');
  else if (isConflict(error)) logger.debug(fields, 'the object changed meanwhile');
  else if (error instanceof TerminalError || error instanceof ApiError) {
    logger.error(fields, 'reconcile failed');
  } else {
    const stack = conditionMessage(error instanceof Error ? (error.stack ?? '') : '');
    logger.error({ ...fields, stack }, 'reconcile failed');
  }
}
