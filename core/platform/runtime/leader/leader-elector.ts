import type { Logger } from '../../../contracts/logger.ts';
import { errorMessage } from '../../../errors.ts';
import { type Clock, withDeadline } from '../../clock.ts';
import { isAlreadyExists, isConflict } from '../../kube/index.ts';
import { LeaseLock, type LeaseLockOptions } from './lease-lock.ts';

interface LeaderElectorOptions extends LeaseLockOptions {
  readonly logger: Logger;
}

interface LeaderCallbacks {
  /**
   * Leads until the signal is aborted, then resolves when its work is finished. When `lost` is
   * aborted, also during a stop, another process may lead: send nothing any more.
   */
  onStarted(signal: AbortSignal, lost: AbortSignal): Promise<void>;
  /** Another process took the Lease, or renewing it took too long: another may lead by now. */
  onLost(error: Error): void;
}

/** Milliseconds, as in client-go; shorter than the Lease's 15 s. */
const renewDeadline = 10_000;
const retryPeriod = 2_000;

/**
 * Ensures that at most one of several processes leads: the one that holds the Lease and renews it.
 */
export class LeaderElector {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lock: LeaseLock;

  constructor({ logger, ...lock }: LeaderElectorOptions) {
    this.#clock = lock.clock;
    this.#logger = logger.child({
      lease: `${lock.namespace}/${lock.name}`,
      identity: lock.identity,
    });
    this.#lock = new LeaseLock(lock);
  }

  /**
   * Waits for the Lease, leads, and releases the Lease when the signal is aborted and the work is
   * finished. Rejects at once when leadership is lost, and with the error of the work itself.
   */
  async run(signal: AbortSignal, callbacks: LeaderCallbacks): Promise<void> {
    if (!(await this.#acquire(signal))) return;
    this.#logger.info({}, 'leading');
    const lead = new AbortController();
    const loss = new AbortController();
    const finished = new AbortController();
    const onStop = (): void => lead.abort(signal.reason);
    signal.addEventListener('abort', onStop, { once: true });
    if (signal.aborted) onStop();
    const work = callbacks.onStarted(lead.signal, loss.signal).finally(() => finished.abort());
    // Its error is for the caller, after the release: until then it must not end the process.
    work.catch(() => undefined);
    // Renews the Lease until the work is finished, so that no other process starts before.
    const isLost = await this.#renewUntil(finished.signal);
    signal.removeEventListener('abort', onStop);
    if (isLost) {
      const error = lossOf(this.#lock.otherHolder);
      loss.abort(error);
      lead.abort(error);
      callbacks.onLost(error);
      throw error;
    }
    await this.#release();
    await work;
  }

  /** True when this process has the Lease, false when the signal is aborted first. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    this.#logger.info({}, 'waiting for the lease');
    while (!signal.aborted) {
      if (await this.#try(renewDeadline, signal)) return true;
      await this.#pause(retryPeriod * (1 + Math.random() * 0.2), signal);
    }
    return false;
  }

  /** True when the Lease is lost, false when the signal is aborted first. */
  async #renewUntil(signal: AbortSignal): Promise<boolean> {
    for (let triedAt = this.#lock.renewedAt; ; ) {
      // After a late answer there is no time for a pause.
      const pause = triedAt + retryPeriod - this.#clock.monotonic();
      if (pause > 0) await this.#pause(pause, signal);
      if (signal.aborted) return false;
      triedAt = this.#clock.monotonic();
      const left = this.#lock.renewedAt + renewDeadline - triedAt;
      if (left > 0 && (await this.#try(left, signal))) continue;
      if (signal.aborted) return false;
      if (left <= 0 || this.#lock.otherHolder !== undefined) return true;
    }
  }

  /** A request that hangs must not exceed the deadline. */
  async #try(ms: number, signal: AbortSignal): Promise<boolean> {
    try {
      return await withDeadline({ ms, signal, timeoutError }, async (within) => {
        return await this.#lock.takeOrRenew(within);
      });
    } catch (error) {
      if (!signal.aborted && !isConflict(error) && !isAlreadyExists(error)) {
        this.#logger.warn({ error: errorMessage(error) }, 'cannot take or renew the lease');
      }
      return false;
    }
  }

  async #release(): Promise<void> {
    try {
      await withDeadline({ ms: retryPeriod, timeoutError }, async (within) => {
        await this.#lock.release(within);
      });
    } catch (error) {
      this.#logger.warn({ error: errorMessage(error) }, 'cannot release the lease');
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, signal).catch(() => undefined);
  }
}

function lossOf(holder: string | undefined): Error {
  const cause =
    holder === undefined ? 'the lease was not renewed in time' : `${holder} holds the lease now`;
  return new Error(`leadership is lost: ${cause}`);
}

export function timeoutError(): Error {
  return new Error('the API server does not answer in time');
}
