import { setTimeout as delay } from 'node:timers/promises';
import { TerminalError } from '../../../core/errors.ts';

const interval = 300;

export interface PollOptions<T> {
  /** May throw where what is waited for will never come. */
  readonly isDone: (answer: T) => boolean;
  /** Milliseconds. */
  readonly timeout: number;
  /** What to tell the user when the time is over: `time` is how long that was, with its unit. */
  readonly late: (last: T, time: string) => string | Promise<string>;
  readonly signal: AbortSignal;
}

/**
 * Asks again and again, and returns the first answer that is as wanted.
 * @throws TerminalError where none is in time.
 */
export async function pollUntil<T>(
  ask: () => Promise<T>,
  { isDone, timeout, late, signal }: PollOptions<T>,
): Promise<T> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const answer = await ask();
    if (isDone(answer)) return answer;
    if (Date.now() >= deadline) {
      throw new TerminalError(await late(answer, `${timeout / 1000} s`));
    }
    await delay(interval, undefined, { signal });
  }
}
