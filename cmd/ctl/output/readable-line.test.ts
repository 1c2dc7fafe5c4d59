import { expect, test } from 'vitest';
import { readableLine } from './readable-line.ts';

test('an entry of the log begins with its time, level and text', () => {
  const entry = {
    level: 'warn',
    time: '2026-11-21T21:07:06.123Z',
    msg: 'retrying',
    after: 2,
    of: 'a b',
  };
  expect(readableLine(JSON.stringify(entry))).toBe('21:07:06 warn  retrying after=2 of="a b"');
});

test.each(['rukpak: no such file', '{"level":"info"}', 'null', '{'])(
  '%s stays as it is',
  (line) => {
    expect(readableLine(line)).toBe(line);
  },
);

test('what a stranger wrote does not reach the terminal as a command to it', () => {
  const entry = { level: 'info', time: '2026-11-21T21:07:06.123Z', msg: 'a\u001b[2Jb\nc' };
  expect(readableLine(JSON.stringify(entry))).toBe('21:07:06 info  a\\x1b[2Jb\\x0ac');
  expect(readableLine('plain \u009b2J')).toBe('plain \\x9b2J');
});
