import { expect, test } from 'vitest';
import { changedText } from './changed-module.ts';

const replacements = [
  ['a\n', 'b\n'],
  ['$', '$&'],
] as const;
const change = { module: 'example.com/m', file: 'm.go', replacements };

test('a change replaces each occurrence, as written', () => {
  expect(changedText('a\na\n$ a', change)).toBe('b\nb\n$& a');
});

test('a change is refused for a file of another version', () => {
  expect(() => changedText('a\n', change)).toThrow('example.com/m/m.go does not have the text "$"');
});
