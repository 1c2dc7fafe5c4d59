import { expect, it } from 'vitest';
import { logLine } from './loggers.ts';

it('looks like a line of Go’s log package', () => {
  expect(logLine('it failed\n', new Date(2026, 0, 2, 3, 4, 5))).toBe(
    '2026/01/02 03:04:05 it failed\n',
  );
});

it('shows what a server would have a terminal do', () => {
  expect(logLine('status \u001b[2J', new Date(2026, 0, 2, 3, 4, 5))).toBe(
    '2026/01/02 03:04:05 status \\x1b[2J\n',
  );
});
