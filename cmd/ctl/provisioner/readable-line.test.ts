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
