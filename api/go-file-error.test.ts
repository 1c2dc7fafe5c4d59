import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { goFileError } from './go-file-error.ts';

function failure(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each([
  ['open', () => readFileSync('/nothing/x'), 'open x: no such file or directory'],
  ['stat', () => statSync('/nothing/x'), 'stat x: no such file or directory'],
  ['read', () => readFileSync('/'), 'read x: is a directory'],
  ['list', () => readdirSync('/nothing/x'), 'open x: no such file or directory'],
  ['make', () => mkdirSync('/'), 'mkdir x: file exists'],
])('a failure to %s has Go’s words', (_what, work, text) => {
  expect(goFileError(failure(work), 'x')).toBe(text);
});

test('other errors are not converted', () => {
  expect(goFileError(new Error('ENOENT'), 'x')).toBeUndefined();
});
