/**
 * A time limit that runs down. As AbortSignal.timeout(), but what others take does not count: a part
 * of the work that waits for its turn says so by `uncounted`.
 */
export class Countdown {
  readonly #over = new AbortController();
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  /** Begins with so many milliseconds. */
  constructor(left: number) {
    this.#left = left;
    this.#goOn();
  }

  /** Aborted when no time is left. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Runs a part of the work that only waits for its turn: that does not count for the limit. */
  async uncounted<T>(waiting: () => Promise<T>): Promise<T> {
    this.#stop();
    try {
      return await waiting();
    } finally {
      this.#goOn();
    }
  }

  /** For good. */
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

/** For work that waits for places which creators share. */
export interface Turn {
  /** On whose behalf the work is done. */
  readonly creator: string;
  /** That the wait does not count for. */
  readonly countdown: Countdown;
}

/** The context of a handler, with the turn that its host needs and the handler has no use for. */
export type InTurn<Context> = Context & { readonly turn?: Turn | undefined };

interface TimeLimit {
  /** Milliseconds. */
  readonly limit: number;
  /** More of them, for work that keeps the limit itself and says so in words of its own. */
  readonly grace?: number;
  readonly signal: AbortSignal;
  /** What takes too long, where that is not bounded by the flag for content. */
  readonly work?: string;
}

/**
 * Runs work that must end within a limit or when the signal is aborted, even where the work itself
 * does not listen.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal, countdown: Countdown) => Promise<T>,
  { limit, grace = 0, signal, work: name }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted();
  const countdown = new Countdown(Math.ceil(limit + grace));
  const either = AbortSignal.any([signal, countdown.signal]);
  const aborted = Promise.withResolvers<never>();
  const abort = (): void =>
    aborted.reject(countdown.signal.aborted ? tooLong(limit, name) : (signal.reason as Error));
  either.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(either, countdown), aborted.promise]);
  } finally {
    either.removeEventListener('abort', abort);
    countdown.end();
  }
}

function tooLong(limit: number, work?: string): Error {
  if (work !== undefined) return new Error(`${work} took longer than ${limit / 1000} s`);
  return new Error(`took longer than the limit of ${limit / 1000} s (--content-timeout)`);
}
