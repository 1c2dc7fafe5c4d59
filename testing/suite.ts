import { AssertionError, deepStrictEqual, fail, match, strictEqual } from 'node:assert';
import {
  errorMessage,
  parseJson,
  stringifyJson,
  TerminalError,
  WaitingError,
} from '../core/sdk.ts';

/** `test` of node:test, or `test` or `it` of vitest. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** How a suite declares its tests. */
export interface SuiteOptions {
  /** Declares one test: the function of your own tests. */
  readonly test: TestFunction;
}

/** Compares as JSON, with any order of keys; the difference follows the sentence. */
export function assertEqual(actual: unknown, expected: unknown, sentence: string): void {
  try {
    deepStrictEqual(asJson(actual), asJson(expected));
  } catch (error) {
    throw prefixed(`${sentence}\n`, error);
  }
}

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : parseJson(stringifyJson(value));
}

/**
 * TerminalError: only another object helps. WaitingError: core waits for something. Error: any
 * other.
 */
export type RefusalName = 'TerminalError' | 'WaitingError' | 'Error';

/** An error of the closed set, fit for a condition: one line that names the problem. */
export function assertRefusal(error: unknown, expected: RefusalName): void {
  if (!(error instanceof Error)) {
    fail(
      `it threw ${String(error)}, which is not an Error: throw a ${expected} with a clear sentence`,
    );
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

/** A failed assertion with a prefix; any other error unchanged. */
export function prefixed(words: string, error: unknown): unknown {
  if (!(error instanceof AssertionError)) return error;
  const { actual, expected, operator } = error;
  // A new error, because the old stack, which runners print, starts with the old message.
  const message = `${words}${error.message}`;
  return new AssertionError({ message, actual, expected, operator, stackStartFn: prefixed });
}
