import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { booleanFlag, collect, duration, positiveInteger } from './flag-values.ts';

describe('booleanFlag', () => {
  function parse(...args: readonly string[]): unknown {
    const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
    command.addOption(booleanFlag('leader-elect', 'one leads'));
    return command.parse(args, { from: 'user' }).opts()['leaderElect'];
  }

  test.each([
    [[], false],
    [['--leader-elect'], true],
    [['--leader-elect=true'], true],
    [['--leader-elect=false'], false],
  ])('reads %j', (args, value) => {
    expect(parse(...args)).toBe(value);
  });

  test('refuses what is neither', () => {
    expect(() => parse('--leader-elect=yes')).toThrow('It must be true or false.');
  });
});

test.each([
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
])('duration %s', (text, ms) => {
  expect(duration(text)).toBe(ms);
});

test.each(['', '30', 's', '1m30', '-5s', '1d'])('%j is no duration', (text) => {
  expect(() => duration(text)).toThrow('It must be a duration');
});

test.each(['0', '-1', '1.5', 'many', ''])('%j is no positive integer', (text) => {
  expect(() => positiveInteger(text)).toThrow('It must be a whole number');
});

test('a list grows by each flag and each comma', () => {
  expect(collect('b,c,', collect('a', []))).toEqual(['a', 'b', 'c']);
});
