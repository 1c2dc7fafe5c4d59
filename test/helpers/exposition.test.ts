import { expect, test } from 'vitest';
import { parseExposition, valueOf } from './exposition.ts';

const counter = '# HELP a_total What it is.\n# TYPE a_total counter\n';

test('samples are summed by their labels', () => {
  const families = parseExposition(`${counter}a_total{x="1",y="a\\"b"} 2\na_total{x="2"} 3\n`);
  expect(families.get('a_total')).toMatchObject({ type: 'counter', help: 'What it is.' });
  expect(valueOf(families, 'a_total')).toBe(5);
  expect(valueOf(families, 'a_total', { y: 'a"b' })).toBe(2);
});

test.each([
  ['a sample twice', `${counter}a_total 1\na_total 2\n`, 'twice in one scrape: a_total{}'],
  ['a sample without a type', 'a_total 1\n', 'a_total has no type'],
  ['a broken label', `${counter}a_total{x=1} 1\n`, 'no sample: a_total{x=1} 1'],
  ['no value', `${counter}a_total\n`, 'no sample: a_total'],
  ['two types', `${counter}${counter}`, 'two types of a_total'],
  ['no end', `${counter}a_total 1`, 'a scrape ends with a line feed'],
])('%s is refused', (_what, body, message) => {
  expect(() => parseExposition(body)).toThrow(message);
});
