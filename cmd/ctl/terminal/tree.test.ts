import { describe, expect, test } from 'vitest';
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

describe('within 80 columns', () => {
  const bundle = `hello-${'a'.repeat(43)}z`;
  const short = `hello-${'a'.repeat(17)}…${'a'.repeat(21)}z`;
  const message = `Successfully unpacked the ${bundle} Bundle of a registry that is far away and slow`;

  test('a tree keeps every word of a sentence, below where it began', () => {
    const lines = treeLines(
      {
        cells: ['BundleDeployment/hello', 'Healthy', 'class core-rukpak-io-plain'],
        children: [
          { cells: ['conditions'], children: [{ cells: ['Installed', 'True', 'Yes', message] }] },
          { cells: ['Bundles'], children: [{ cells: [bundle, 'active', 'Unpacked', 'upload'] }] },
        ],
      },
      80,
    );
    expect(lines).toEqual([
      'BundleDeployment/hello  Healthy  class core-rukpak-io-plain',
      '|-- conditions',
      '|   `-- Installed  True  Yes  Successfully unpacked the',
      `|                             ${bundle}`,
      '|                             Bundle of a registry that is far away and slow',
      '`-- Bundles',
      `    \`-- ${short}  active  Unpacked  upload`,
    ]);
  });

  test('names are shortened in the middle, the longest first', () => {
    const deep = { cells: [`Deployment/default/${bundle}`, 'Current', bundle] };
    const lines = treeLines({ cells: ['x'], children: [deep] }, 80);
    expect(lines[1]).toMatch(/^`-- Deployment\/default\/h.*…a*z {2}Current {2}hello-a+…a+z$/);
    expect(lines[1]?.length).toBeLessThanOrEqual(80);
  });

  test('a table keeps to one line a row', () => {
    const rows = [
      ['NAME', 'STATE', 'ACTIVE BUNDLE', 'REASON'],
      ['hello', 'Unhealthy', bundle, message],
    ];
    const [heading = '', row = ''] = tableLines(rows, 80);
    expect(heading.indexOf('REASON')).toBe(row.indexOf('Successfully'));
    expect(row).toMatch(/^hello {2}Unhealthy {2}hello-a+…a+z {2}Successfully unpacked .*…$/);
    expect(row.length).toBeLessThanOrEqual(80);
  });

  test('short text stays unchanged', () => {
    const rows = [
      ['NAME', 'STATE'],
      [bundle, 'Installed'],
    ];
    expect(tableLines(rows, 80)).toEqual(tableLines(rows));
  });
});

test('a table is aligned by its widest cells', () => {
  expect(
    tableLines([
      ['NAME', 'STATE'],
      ['demo-demo', 'Installed'],
    ]),
  ).toEqual(['NAME       STATE', 'demo-demo  Installed']);
});
