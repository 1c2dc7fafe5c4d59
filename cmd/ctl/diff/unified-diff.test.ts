import { expect, test } from 'vitest';
import { unifiedDiff } from './unified-diff.ts';

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
