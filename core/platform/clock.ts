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

/** Milliseconds since the epoch as metav1.Time has them: in whole seconds. */
export function metaTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** The same as metav1.MicroTime has them. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

interface BackoffOptions {
  /** Milliseconds. */
  readonly initial: number;
  readonly max: number;
}

/** Delays that double up to a maximum, each longer by a random part of itself. */
export class Backoff {
  readonly #options: BackoffOptions;
  #base: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#base = options.initial;
  }

  /** Milliseconds to wait now; the next ones are longer. */
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
 * Runs `work` with a signal that follows `signal` and is aborted after `ms`. A timeout rejects
 * with `timeoutError`; the caller's abort rejects with its reason. Leaves no listener behind.
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

/** What the promise resolves to, unless the signal is aborted before: then rejects with its reason. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
