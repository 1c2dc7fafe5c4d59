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

export interface Deadline {
  /** Milliseconds. */
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutError: () => Error;
}
