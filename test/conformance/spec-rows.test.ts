import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isGone, namedTests, namesTestsOnly, sourceOf } from '../helpers/named-tests.ts';

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

/** What a text holds whatever its values are: the parts around each `<value>`. */
function fixedParts(answer: string): readonly string[] {
  const texts = [...answer.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  return texts.flatMap((text) => text.split(/<[^<>]+>/)).filter((part) => part.length > 2);
}

describe('docs/spec/conformance.md', () => {
  test('has rows, and each names a test', () => {
    expect(rows.length).toBeGreaterThan(100);
    const nameless = rows.filter((row) => row.answer === '' || namedTests(row.tests).length === 0);
    expect(nameless).toEqual([]);
    const odd = rows.filter(({ tests }) => !namesTestsOnly(tests));
    expect(odd).toEqual([]);
  });

  test('names tests that there are', () => {
    const gone = rows.flatMap(({ tests }) => namedTests(tests)).filter(isGone);
    expect(gone).toEqual([]);
  });

  test('names the tests of each row', () => {
    const unchecked = rows.flatMap((row) => {
      const source = namedTests(row.tests)
        .map(({ path }) => sourceOf(path))
        .join('\n');
      const parts = fixedParts(row.answer).filter((part) => !source.includes(part));
      return parts.map((part) => `${row.row}: ${part}`);
    });
    expect(unchecked).toEqual([]);
  });
});
