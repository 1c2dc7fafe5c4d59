import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { type DiffLine, diffLines, unifiedDiff } from './unified-diff.ts';

const names = ['a', 'b'] as const;

function numbered(count: number, replaced: Readonly<Record<number, string>> = {}): string {
  const lines = Array.from({ length: count }, (_, index) => replaced[index + 1] ?? `${index + 1}`);
  return `${lines.join('\n')}\n`;
}

test('equal texts have no diff', () => {
  expect(unifiedDiff({ names, before: 'x\n', after: 'x\n' })).toBe('');
});

test('changes far from each other are hunks of their own, as diff -u has them', () => {
  const after = numbered(20, { 2: 'two', 18: 'eighteen' });
  expect(unifiedDiff({ names, before: numbered(20), after })).toBe(
    [
      '--- a',
      '+++ b',
      '@@ -1,5 +1,5 @@',
      ' 1\n-2\n+two\n 3\n 4\n 5',
      '@@ -15,6 +15,6 @@',
      ' 15\n 16\n 17\n-18\n+eighteen\n 19\n 20\n',
    ].join('\n'),
  );
});

test('changes near each other share a hunk', () => {
  const after = numbered(9, { 2: 'two', 8: 'eight' });
  expect(unifiedDiff({ names, before: numbered(9), after }).match(/^@@/gm)).toHaveLength(1);
});

test('what is made or removed has one side only', () => {
  expect(unifiedDiff({ names, before: '', after: 'x\ny\n' })).toBe(
    '--- a\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n',
  );
  expect(unifiedDiff({ names, before: 'x\n', after: '' })).toBe(
    '--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n',
  );
});

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

test('texts that have nothing in common take no time', { tags: ['slow'] }, () => {
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
