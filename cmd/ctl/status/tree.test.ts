import { expect, test } from 'vitest';
import { tableLines, treeLines } from './tree.ts';

test('siblings are aligned, branches are drawn', () => {
  const lines = treeLines({
    cells: ['root', 'x'],
    children: [
      {
        cells: ['first'],
        children: [{ cells: ['a', 'True', 'why'] }, { cells: ['longer', 'No', 'because'] }],
      },
      { cells: ['last'], children: [{ cells: ['b'] }] },
    ],
  });
  expect(lines).toEqual([
    'root  x',
    '|-- first',
    '|   |-- a       True  why',
    '|   `-- longer  No    because',
    '`-- last',
    '    `-- b',
  ]);
});

test('a message of many lines is one, and a very long one is cut', () => {
  const [line = ''] = treeLines({ cells: ['a\nb\n  c'] });
  expect(line).toBe('a b c');
  expect(treeLines({ cells: ['x'.repeat(5_000)] })[0]).toMatch(/^x{600} … \(all of it/);
});

test('a table is aligned by its widest cells', () => {
  expect(
    tableLines([
      ['NAME', 'STATE'],
      ['demo-demo', 'Installed'],
    ]),
  ).toEqual(['NAME       STATE', 'demo-demo  Installed']);
});
