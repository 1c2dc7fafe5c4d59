import { expect, test } from 'vitest';
import { logFormat } from './process-logger.ts';

const line = JSON.stringify({
  level: 'warn',
  time: '2026-11-21T21:07:06.123Z',
  msg: 'late',
  by: 2,
});

test('files and pipes have JSON, as collectors of logs read it', () => {
  expect(logFormat({}, {})).toBeUndefined();
});

test.each([
  ['with colour', {}, '21:07:06 \u001b[33mwarn\u001b[39m  late by=2'],
  ['with NO_COLOR', { NO_COLOR: '1' }, '21:07:06 warn  late by=2'],
  ['where it can show none', { TERM: 'dumb' }, '21:07:06 warn  late by=2'],
])('a terminal has a line to read: %s', (_case, env, shown) => {
  expect(logFormat({ isTTY: true }, env)?.(line)).toBe(shown);
});
