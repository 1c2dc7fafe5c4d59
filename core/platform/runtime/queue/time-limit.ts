import type { FairSemaphore } from './semaphore.ts';

/**
 * A time limit like AbortSignal.timeout(), but waits for other work do not count: a part that waits
 * for its turn runs in `uncounted`.
 */
export class Countdown {
  readonly #over = new AbortController();
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** Starts with so many milliseconds. */
  constructor(left: number) {
    this.#left = left;
    this.#goOn();
  }

  /** Aborted when no time is left. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Runs a part of the work that only waits for its turn, without counting its time. */
  async uncounted<T>(waiting: () => Promise<T>): Promise<T> {
    this.#stop();
    try {
      return await waiting();
    } finally {
      this.#goOn();
    }
  }

  /** Ends the countdown for ever. */
  end(): void {
    this.#stop();
    this.#ended = true;
  }

  #stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#since;
  }

  #goOn(): void {
    if (this.#ended || this.#timer !== undefined) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#expire(), Math.max(this.#left, 0)).unref();
  }

  #expire(): void {
    this.#over.abort(new DOMException('The time is over', 'TimeoutError'));
  }
}

/** The turn of work that waits for places shared by creators. */
export interface Turn {
  /** The creator for whom the work is done. */
  readonly creator: string;
  /** Does not count the wait (default: nothing counts it). */
  readonly countdown?: Pick<Countdown, 'uncounted'>;
  /** Counts the bytes of the result, all that have arrived so far. */
  readonly received?: (bytes: number) => void;
}

/** Takes one of the places that creators share; the turn's countdown does not count the wait. */
export async function takePlace(
  places: FairSemaphore,
  turn: Turn | undefined,
  signal: AbortSignal,
): Promise<() => void> {
  const { creator = 'core', countdown } = turn ?? {};
  const wait = (): Promise<() => void> => places.take({ creator }, signal);
  return await (countdown === undefined ? wait() : countdown.uncounted(wait));
}

/** A handler's context with the turn, which only the handler's host needs. */
export type InTurn<Context> = Context & { readonly turn?: Turn | undefined };

interface TimeLimit {
  /** Milliseconds. */
  readonly limit: number;
  /** Additional milliseconds for work that enforces the limit itself, with its own message. */
  readonly grace?: number;
  readonly signal: AbortSignal;
  /** Name of the slow work in the message, when the content flag does not limit it. */
  readonly work?: string;
  /** Who is at work at the end of the time, for the start of the message (default: nobody is named). */
  readonly by?: () => string | undefined;
}

/**
 * Runs work that must end within a limit or when the signal is aborted, even when the work ignores
 * the signal.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal, countdown: Countdown) => Promise<T>,
  { limit, grace = 0, signal, work: name, by }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted();
  const countdown = new Countdown(Math.ceil(limit + grace));
  const either = AbortSignal.any([signal, countdown.signal]);
  const aborted = Promise.withResolvers<never>();
  const abort = (): void =>
    aborted.reject(
      countdown.signal.aborted ? tooLong(limit, { name, by: by?.() }) : (signal.reason as Error),
    );
  either.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(either, countdown), aborted.promise]);
  } finally {
    either.removeEventListener('abort', abort);
    countdown.end();
  }
}

function tooLong(
  limit: number,
  { name, by }: { readonly name: string | undefined; readonly by: string | undefined },
): Error {
  if (name !== undefined) return new Error(`${name} took longer than ${limit / 1000} s`);
  const start = by === undefined ? '' : `${by}: `;
  return new Error(`${start}took longer than the limit of ${limit / 1000} s (--content-timeout)`);
}
