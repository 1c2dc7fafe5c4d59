import { fail, match, strictEqual } from 'node:assert';
import { errorMessage, TerminalError, WaitingError } from '../core/sdk.ts';

/** TerminalError: only another object helps. WaitingError: something is awaited. Error: any other. */
export type RefusalName = 'TerminalError' | 'WaitingError' | 'Error';

/** An error of the closed set, fit for a condition: one line that says what is wrong. */
export function assertRefusal(error: unknown, expected: RefusalName): void {
  if (!(error instanceof Error)) {
    fail(`it threw ${String(error)}, which is no Error: throw a ${expected} with a clear sentence`);
  }
  if (kindOf(error) !== expected) {
    fail(`it threw ${error.name}, and is to throw a ${expected}: ${error.stack ?? error.message}`);
  }
  if (error.message.trim() === '') fail(`its ${expected} has no message`);
  if (/[\r\n]/.test(error.message)) {
    fail(`its ${expected} has a message of several lines: ${JSON.stringify(error.message)}`);
  }
}

function kindOf(error: Error): RefusalName {
  if (error instanceof TerminalError) return 'TerminalError';
  return error instanceof WaitingError ? 'WaitingError' : 'Error';
}

/** `expected` is the whole message or a pattern. */
export function assertMessage(error: unknown, expected: string | RegExp): void {
  const message = errorMessage(error);
  if (typeof expected === 'string') strictEqual(message, expected);
  else match(message, expected);
}
