import type { Clock } from '../../clock.ts';
import type { Call } from './call.ts';

export interface RunningLimit {
  /** Milliseconds; without one a call's own signal is all that ends it. */
  readonly limit: number | undefined;
  readonly clock: Clock;
}

/**
 * Runs a call that has its process now, and aborts it when that takes too long. Not terminal: on a
 * busy machine the same content may be done in time another time.
 */
export async function withRunningLimit<T>(
  call: Call,
  { limit, clock }: RunningLimit,
  run: (call: Call) => Promise<T>,
): Promise<T> {
  if (limit === undefined) return await run(call);
  const finished = new AbortController();
  const tooLong = new AbortController();
  const watch = async (): Promise<void> => {
    try {
      await clock.sleep(limit, finished.signal);
    } catch {
      return;
    }
    tooLong.abort(new Error(textOf(call, limit)));
  };
  void watch();
  const signal = AbortSignal.any([call.context.signal, tooLong.signal]);
  try {
    return await run({ ...call, context: { ...call.context, signal } });
  } finally {
    finished.abort();
  }
}

function textOf({ callee }: Call, limit: number): string {
  return `${callee} took longer than ${limit / 1000} s for this content: make it smaller, or look for what repeats itself without an end`;
}
