import { expect, it } from 'vitest';
import { logLine } from './log-line.ts';

it('looks like a line of Go’s log package', () => {
  expect(logLine('it failed\n', new Date(2026, 0, 2, 3, 4, 5))).toBe(
    '2026/01/02 03:04:05 it failed\n',
  );
});
