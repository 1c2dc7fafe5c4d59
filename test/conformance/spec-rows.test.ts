import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

interface Row {
  readonly row: string;
  readonly answer: string;
  readonly tests: string;
}

const rows: readonly Row[] = readFileSync(join(root, 'docs/spec/conformance.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| row |'))
  .map((line) => {
    const [, row = '', answer = '', tests = ''] = line.split(/ \|$| \| |^\| /);
    return { row, answer, tests };
  });

const reference = /`([^`"]+\.test\.ts)` "([^"]+)"/g;

/** `path` "name" for each test that a row names. */
function testsOf({ tests }: Row): readonly { readonly path: string; readonly name: string }[] {
  return [...tests.matchAll(reference)].map(([, path = '', name = '']) => ({ path, name }));
}

/** What a text holds whatever its values are: the parts around each `<value>`. */
function fixedParts(answer: string): readonly string[] {
  const texts = [...answer.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  return texts.flatMap((text) => text.split(/<[^<>]+>/)).filter((part) => part.length > 2);
}

/** The source of a test, in which regular expressions are as good as texts. */
function sourceOf(path: string): string {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\\', '') : '';
}

describe('docs/spec/conformance.md', () => {
  test('has rows, and each names a test', () => {
    expect(rows.length).toBeGreaterThan(100);
    const nameless = rows.filter((row) => row.answer === '' || testsOf(row).length === 0);
    expect(nameless).toEqual([]);
    const odd = rows.filter(({ tests }) => !/^(; )*$/.test(tests.replaceAll(reference, '')));
    expect(odd).toEqual([]);
  });

  test('names tests that there are', () => {
    const gone = rows.flatMap(testsOf).filter(({ path, name }) => !sourceOf(path).includes(name));
    expect(gone).toEqual([]);
  });

  test('says what these tests check', () => {
    const unchecked = rows.flatMap((row) => {
      const source = testsOf(row)
        .map(({ path }) => sourceOf(path))
        .join('\n');
      const parts = fixedParts(row.answer).filter((part) => !source.includes(part));
      return parts.map((part) => `${row.row}: ${part}`);
    });
    expect(unchecked).toEqual([]);
  });
});
