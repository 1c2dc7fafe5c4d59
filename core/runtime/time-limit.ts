import { WaitingError } from '../errors.ts';

/**
 * Runs work that must end within `limit` milliseconds or when the signal is aborted, even where the
 * work itself does not listen.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<T> {
  signal.throwIfAborted();
  const timeout = AbortSignal.timeout(limit);
  const either = AbortSignal.any([signal, timeout]);
  const aborted = Promise.withResolvers<never>();
  const abort = (): void =>
    aborted.reject(timeout.aborted ? tooLong(limit) : (signal.reason as Error));
  either.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(either), aborted.promise]);
  } catch (error) {
    // The work reports its own abort first, in words of its own.
    if (timeout.aborted && !(error instanceof WaitingError)) throw tooLong(limit);
    throw error;
  } finally {
    either.removeEventListener('abort', abort);
  }
}

function tooLong(limit: number): Error {
  return new Error(`took longer than the limit of ${limit / 1000} s (--content-timeout)`);
}
