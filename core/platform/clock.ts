import { setTimeout as delay } from 'node:timers/promises';

/** Time, injected so that tests can control it. Times are in milliseconds. */
export interface Clock {
  /** Time since the epoch, for others to read; setting the computer's clock changes it. */
  now(): number;
  /** Time since a fixed moment of this process, for durations; it never goes back. */
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
      // Node's timers reject with their own AbortError.
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/** Milliseconds since the epoch in metav1.Time's format, with whole seconds. */
export function metaTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Milliseconds since the epoch in metav1.MicroTime's format. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

interface BackoffOptions {
  /** Milliseconds. */
  readonly initial: number;
  readonly max: number;
}

/** Delays that double up to a maximum, each with a random addition. */
export class Backoff {
  readonly #options: BackoffOptions;
  #base: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#base = options.initial;
  }

  /** Milliseconds to wait now; each call returns more. */
  next(): number {
    const base = this.#base;
    this.#base = Math.min(base * 2, this.#options.max);
    return Math.min(base * (1 + Math.random()), this.#options.max);
  }

  reset(): void {
    this.#base = this.#options.initial;
  }
}

interface Deadline {
  /** Milliseconds. */
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutError: () => Error;
}

/**
 * Runs `work` with a signal that follows `signal` and is aborted after `ms`. A timeout rejects with
 * `timeoutError`, an abort of `signal` with its reason. Leaves no listener behind.
 */
export async function withDeadline<T>(
  { ms, signal, timeoutError }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(timeoutError()), ms);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(controller.signal);
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Resolves like the promise; rejects with the signal's reason when the signal is aborted first. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    // Also handles the promise's later rejection, which would end the process.
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
