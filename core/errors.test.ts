import { expect, test } from 'vitest';
import { errorMessage, TerminalError, WaitingError } from './errors.ts';

interface Copy {
  readonly TerminalError: typeof TerminalError;
  readonly WaitingError: typeof WaitingError;
}

class OddContent extends TerminalError {}
class OtherContent extends TerminalError {}

test('an error is of its own class and of those above it', () => {
  const odd = new OddContent('odd');
  expect(odd).toBeInstanceOf(TerminalError);
  expect(odd).toBeInstanceOf(Error);
  expect(odd instanceof OtherContent).toBe(false);
  expect(odd instanceof WaitingError).toBe(false);
  expect(new TerminalError('plain') instanceof OddContent).toBe(false);
});

test('an error of another copy of this module counts as one of ours', async () => {
  const copy = (await import(`${import.meta.dirname}/errors.ts?copy`)) as Copy;
  expect(copy.TerminalError).not.toBe(TerminalError);
  const terminal: unknown = new copy.TerminalError('no', { reason: 'Odd' });
  expect(terminal instanceof TerminalError).toBe(true);
  expect(terminal instanceof WaitingError).toBe(false);
  expect(new copy.WaitingError('later') instanceof WaitingError).toBe(true);
});

test('what is thrown may be anything', () => {
  for (const value of [null, undefined, 'text', {}, Symbol.iterator, () => 1]) {
    expect(value instanceof TerminalError).toBe(false);
  }
  expect(errorMessage('text')).toBe('text');
});
