/** As AbortSignal.timeout(), and may be stopped for a while. */
class Countdown {
  readonly #over = new AbortController();
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** Begins with so many milliseconds. */
  constructor(left: number) {
    this.#left = left;
    this.goOn();
  }

  /** Aborted when no time is left. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#since;
  }

  goOn(): void {
    if (this.#ended || this.#timer !== undefined) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#expire(), Math.max(this.#left, 0)).unref();
  }

  /** For good. */
  end(): void {
    this.stop();
    this.#ended = true;
  }

  #expire(): void {
    this.#over.abort(new DOMException('The time is over', 'TimeoutError'));
  }
}

interface TimeLimit {
  /** Milliseconds. */
  readonly limit: number;
  /** More of them, for work that keeps the limit itself and says so in words of its own. */
  readonly grace?: number;
  readonly signal: AbortSignal;
  /** What takes too long, where that is not bounded by the flag for content. */
  readonly work?: string;
}

/** By the signal that the work was given. */
const countdowns = new WeakMap<AbortSignal, Countdown>();

/**
 * Runs work that must end within a limit or when the signal is aborted, even where the work itself
 * does not listen.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { limit, grace = 0, signal, work: name }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted();
  const countdown = new Countdown(Math.ceil(limit + grace));
  const either = AbortSignal.any([signal, countdown.signal]);
  countdowns.set(either, countdown);
  const aborted = Promise.withResolvers<never>();
  const abort = (): void =>
    aborted.reject(countdown.signal.aborted ? tooLong(limit, name) : (signal.reason as Error));
  either.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(either), aborted.promise]);
  } finally {
    either.removeEventListener('abort', abort);
    countdown.end();
  }
}

/**
 * Runs a part of such work that only waits for its turn: what others take does not count for the
 * limit. The signal is the very one that the work was given; with any other one nothing changes.
 */
export async function uncounted<T>(signal: AbortSignal, waiting: () => Promise<T>): Promise<T> {
  const countdown = countdowns.get(signal);
  countdown?.stop();
  try {
    return await waiting();
  } finally {
    countdown?.goOn();
  }
}

function tooLong(limit: number, work?: string): Error {
  if (work !== undefined) return new Error(`${work} took longer than ${limit / 1000} s`);
  return new Error(`took longer than the limit of ${limit / 1000} s (--content-timeout)`);
}
