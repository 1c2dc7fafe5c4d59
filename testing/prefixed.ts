import { AssertionError } from 'node:assert';

/** A failed assertion with words before its own; what was thrown otherwise is as it was. */
export function prefixed(words: string, error: unknown): unknown {
  if (!(error instanceof AssertionError)) return error;
  const { actual, expected, operator } = error;
  // A new one: the stack of the first, which runners print, begins with the message it had.
  const message = `${words}${error.message}`;
  return new AssertionError({ message, actual, expected, operator, stackStartFn: prefixed });
}
