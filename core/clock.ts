import { setTimeout as delay } from 'node:timers/promises';

/** Time, injected so that tests can turn it. Times are milliseconds. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
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
