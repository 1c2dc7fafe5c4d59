import { expect, test } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { TerminalError } from '../../errors.ts';
import { bundleDirectory } from './read-tree.ts';

test.each([
  [undefined, ''],
  ['', ''],
  ['.', ''],
  ['./', ''],
  ['a', 'a'],
  ['./dev/deploy/', 'dev/deploy'],
  ['a//./b', 'a/b'],
  ['a/../b', 'b'],
  ['a/b/../..', ''],
  ['..data', '..data'],
])('%j is the tree at %j', (directory, path) => {
  expect(bundleDirectory(directory, 'r')).toBe(path);
});

test.each(['/', '/a', '..', '../a', 'a/../..', 'a/../../a', '../a/..'])('%j is refused', (path) => {
  expect(() => bundleDirectory(path, 'r')).toThrow(
    new TerminalError(
      `get subdirectory "${path}" for repository "r": directory can not start with '../' or '/'`,
    ),
  );
});

test('a million parts take no time', () => {
  const start = cpuTime();
  expect(bundleDirectory(`${'a/'.repeat(500_000)}${'../'.repeat(500_000)}b`, 'r')).toBe('b');
  expect(() => bundleDirectory('../'.repeat(500_000), 'r')).toThrow(TerminalError);
  expect(cpuTime() - start).toBeLessThan(2000);
});
