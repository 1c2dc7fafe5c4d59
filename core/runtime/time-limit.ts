export interface TimeLimit {
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
  work: (signal: AbortSignal) => Promise<T>,
  { limit, grace = 0, signal, work: name }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(Math.ceil(limit + grace));
  const either = AbortSignal.any([signal, timeout]);
  const aborted = Promise.withResolvers<never>();
  const abort = (): void =>
    aborted.reject(timeout.aborted ? tooLong(limit, name) : (signal.reason as Error));
  either.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(either), aborted.promise]);
  } finally {
    either.removeEventListener('abort', abort);
  }
}

function tooLong(limit: number, work?: string): Error {
  if (work !== undefined) return new Error(`${work} took longer than ${limit / 1000} s`);
  return new Error(`took longer than the limit of ${limit / 1000} s (--content-timeout)`);
}
