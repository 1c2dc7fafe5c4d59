import { expect, test } from 'vitest';
import { parseDuration, parseGoDuration } from './duration.ts';

test.each([
  ['90s', 90_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  ['0s', 0],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '5', '5d', '-1s', '1 m', 's', '1m 30s'])('%j is none', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

// What Go 1.26's time.ParseDuration answers.
test.each([
  ['-1.5h', -5_400_000],
  ['+.5s', 500],
  ['3.us1ns', 0.003001],
  ['0', 0],
])('Go reads %s as %d ms', (text, ms) => {
  expect(parseGoDuration(text)).toBeCloseTo(ms, 9);
});

test.each(['', '1', '.s', '1d', '--1s', '1 s'])('Go refuses %j', (text) => {
  expect(parseGoDuration(text)).toBeUndefined();
});
