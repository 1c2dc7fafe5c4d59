import { setTimeout as delay } from 'node:timers/promises';

/** Time, injected so that tests can turn it. Times are milliseconds. */
export interface Clock {
  /** Since the epoch, for what others read; whoever sets the computer's clock moves it back or on. */
  now(): number;
  /** Since some moment of this process, for how long something lasts; it never goes back. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node rejects with an AbortError of its own.
      signal?.throwIfAborted();
      throw error;
    }
  },
};
