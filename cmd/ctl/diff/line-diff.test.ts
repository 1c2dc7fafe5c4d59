import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { type DiffLine, diffLines } from './line-diff.ts';

function shown(before: string, after: string): string {
  const marks = { same: ' ', removed: '-', added: '+' } as const;
  return diffLines(before.split(''), after.split(''))
    .map(({ kind, text }) => `${marks[kind]}${text}`)
    .join('');
}

function side(lines: readonly DiffLine[], without: DiffLine['kind']): string[] {
  return lines.filter(({ kind }) => kind !== without).map(({ text }) => text);
}

test.each([
  ['', '', ''],
  ['ab', 'ab', ' a b'],
  ['', 'ab', '+a+b'],
  ['ab', '', '-a-b'],
  ['abc', 'axc', ' a-b+x c'],
  ['abcabba', 'cbabac', '-a-b c+b a b-b a+c'],
])('from %j to %j', (before, after, expected) => {
  expect(shown(before, after)).toBe(expected);
});

test('each side is what it was, and nothing shorter is found by trying all', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      expect(side(lines, 'added')).toEqual(before);
      expect(side(lines, 'removed')).toEqual(after);
      const same = lines.filter(({ kind }) => kind === 'same').length;
      expect(same).toBe(longestCommon(before, after));
    }),
  );
});

test('texts that have nothing in common take no time', () => {
  const lines = (mark: string) => Array.from({ length: 20_000 }, (_, index) => `${mark}${index}`);
  const start = cpuTime();
  expect(diffLines(lines('a'), lines('b'))).toHaveLength(40_000);
  expect(cpuTime() - start).toBeLessThan(10_000);
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const [first, ...rest] = a;
  if (first === undefined) return 0;
  const at = b.indexOf(first);
  const without = longestCommon(rest, b);
  return at === -1 ? without : Math.max(without, 1 + longestCommon(rest, b.slice(at + 1)));
}
