import { expect, test } from 'vitest';
import { cycleText, dependencyCycle } from './dependency-cycle.ts';

function cycle(edges: Readonly<Record<string, string>>, name: string, dependency: string) {
  const found = dependencyCycle({ name, dependency }, (from) => edges[from]?.split(' ') ?? []);
  return found?.join(' ');
}

test.each([
  [{ a: 'a' }, 'a', 'a a'],
  [{ a: 'b', b: 'a' }, 'b', 'a b a'],
  [{ a: 'b', b: 'c', c: 'd', d: 'a' }, 'b', 'a b c d a'],
  // Of several ways back the shortest is told.
  [{ a: 'b', b: 'c d', c: 'e', d: 'a', e: 'a' }, 'b', 'a b d a'],
])('%j is a cycle of a by %s', (edges, dependency, expected) => {
  expect(cycle(edges, 'a', dependency)).toBe(expected);
});

test.each([
  ['nothing more', { a: 'b' }],
  ['one that does not exist', { a: 'b', b: 'gone' }],
  ['a cycle of others', { a: 'b', b: 'c', c: 'b' }],
  ['the same by two ways', { a: 'b c', b: 'd', c: 'd' }],
])('a chain to %s is no cycle', (_, edges) => {
  expect(cycle(edges, 'a', 'b')).toBeUndefined();
});

test('a cycle through another dependency is not that of this one', () => {
  expect(cycle({ a: 'b c', c: 'a' }, 'a', 'b')).toBeUndefined();
});

test('a long cycle is told by its beginning and end', () => {
  const names = Array.from({ length: 30 }, (_, index) => `d${index}`);
  expect(cycleText([...names, 'd0'])).toBe(
    'd0 -> d1 -> d2 -> d3 -> d4 -> d5 -> d6 -> d7 -> d8 -> d9 -> d10 -> (19 more) -> d0',
  );
  expect(cycleText(['a', 'b', 'a'])).toBe('a -> b -> a');
});
