export interface TimeLimit {
  /** Milliseconds. */
  readonly limit: number;
  /** More of them, for work that keeps the limit itself and says so in words of its own. */
  readonly grace?: number;
  readonly signal: AbortSignal;
}

/**
 * Runs work that must end within a limit or when the signal is aborted, even where the work itself
 * does not listen.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { limit, grace = 0, signal }: TimeLimit,
): Promise<T> {
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(Math.ceil(limit + grace));
  const either = AbortSignal.any([signal, timeout]);
  const aborted = Promise.withResolvers<never>();
  const abort = (): void =>
    aborted.reject(timeout.aborted ? tooLong(limit) : (signal.reason as Error));
  either.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(either), aborted.promise]);
  } finally {
    either.removeEventListener('abort', abort);
  }
}

function tooLong(limit: number): Error {
  return new Error(`took longer than the limit of ${limit / 1000} s (--content-timeout)`);
}
