import { expect, it } from 'vitest';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { type FieldPath, SourceLines } from './source-lines.ts';

function lineIn(text: string, document: number, ...path: FieldPath): number | undefined {
  return new SourceLines(aTree({ a: text })).lineOf({ file: 'a', document, path });
}

const yaml = `# first
a:
  b:
    - x
    - c: 1
      d: "two
  lines"
    - &anchor {e: 1,
       f: 2}
  alias: *anchor
  b2: last
---
# comment only
---
Kind: K
kind: k
kind: again
`;

it.each([
  [0, ['a', 'b', 0], 4],
  [0, ['a', 'b', 1, 'd'], 6],
  [0, ['a', 'b', 2, 'f'], 9],
  [0, ['a', 'alias', 'f'], 9],
  [0, ['a', 'b2'], 11],
  // What is missing is told by what would hold it.
  [0, ['a', 'none', 'deep'], 2],
  [0, [], 2],
  // Documents without content do not count.
  [1, ['kind'], 17],
  [1, ['KIND'], 17],
  [2, [], undefined],
])('document %i, %j', (document, path, line) => {
  expect(lineIn(yaml, document, ...path)).toBe(line);
});

it('knows JSON with tabs, and objects that follow each other', () => {
  const json = '{\n\t"a": 1\n}\n{\n\t"b": {\n\t\t"c": 2 }\n}\n';
  expect(lineIn(json, 0, 'a')).toBe(2);
  expect(lineIn(json, 1, 'b', 'c')).toBe(6);
  expect(lineIn(`${json}---\nd: 1\n`, 2, 'd')).toBe(9);
});

it('counts what lists hold where that is asked for', () => {
  const list = 'kind: List\nitems:\n- a: 1\n- kind: List\n  items:\n  - b: 2\n---\nc: 3\n';
  const lines = new SourceLines(aTree({ a: list }), { listsCountAsItems: true });
  expect(lines.lineOf({ file: 'a', document: 0, path: ['a'] })).toBe(3);
  expect(lines.lineOf({ file: 'a', document: 1, path: ['b'] })).toBe(6);
  expect(lines.lineOf({ file: 'a', document: 2, path: ['c'] })).toBe(8);
});

it('knows nothing of files that are not there, or are no YAML', () => {
  expect(lineIn('a: [', 0, 'a')).toBeUndefined();
  expect(new SourceLines(aTree({})).lineOf({ file: 'a', document: 0, path: [] })).toBeUndefined();
});
