import { expect, test } from 'vitest';
import { fieldDifferences } from './field-differences.ts';

test.each<
  [what: string, states: readonly [before: unknown, after: unknown], found: readonly unknown[]]
>([
  ['nothing', [{ a: { b: [1] } }, { a: { b: [1] } }], []],
  ['a value', [{ spec: { size: 1 } }, { spec: { size: 2 } }], [['spec.size', 1, 2]]],
  ['a new map, as a whole', [{}, { data: { a: '1' } }], [['data', undefined, { a: '1' }]]],
  [
    'a field that goes',
    [{ data: { a: '1', b: '2' } }, { data: { a: '1' } }],
    [['data.b', '2', undefined]],
  ],
  [
    'a key that is no word',
    [{ labels: {} }, { labels: { 'example.com/a': 'x' } }],
    [['labels["example.com/a"]', undefined, 'x']],
  ],
  [
    'items by their names, wherever they are',
    [
      { c: [{ name: 'a', image: '1' }] },
      {
        c: [
          { name: 'b', image: '1' },
          { name: 'a', image: '2' },
        ],
      },
    ],
    [
      ['c[name="a"].image', '1', '2'],
      ['c[name="b"]', undefined, { name: 'b', image: '1' }],
    ],
  ],
  [
    'items by index where they have no names of their own',
    [{ c: [{ name: 'a' }, { name: 'a' }] }, { c: [{ name: 'a' }, { name: 'b' }] }],
    [['c[1].name', 'a', 'b']],
  ],
  ['an item that goes', [{ args: ['a', 'b'] }, { args: ['a'] }], [['args[1]', 'b', undefined]]],
  [
    'another order',
    [{ c: [{ name: 'a' }, { name: 'b' }] }, { c: [{ name: 'b' }, { name: 'a' }] }],
    [['c', [{ name: 'a' }, { name: 'b' }], [{ name: 'b' }, { name: 'a' }]]],
  ],
  ['another type', [{ a: { b: 1 } }, { a: 'b' }], [['a', { b: 1 }, 'b']]],
])('%s', (_, [before, after], found) => {
  const differences = fieldDifferences(before, after);
  expect(differences.map((each) => [each.path, each.before, each.after])).toEqual(found);
});
