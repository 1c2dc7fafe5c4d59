import { expect, test } from 'vitest';
import { goSorted } from './go-sort.ts';

/** Numbers below `values`, in one of four patterns: random, rising in steps, falling in steps, squares. */
function numbers(size: number, values: number, pattern: number): readonly number[] {
  let state = size * 31 + values;
  return Array.from({ length: size }, (_, index) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const patterns = [
      (state >>> 8) % values,
      Math.trunc(index / values),
      Math.trunc((size - index) / values),
      (index * index) % values,
    ];
    return patterns[pattern] ?? 0;
  });
}

// Hashes of the order of equal numbers, recorded from sort.Slice of Go 1.26.
test.each([
  [12, 3, 0, 393765762],
  [13, 1, 0, 2962965702],
  [20, 2, 0, 884762280],
  [50, 3, 1, 1900589081],
  [100, 2, 2, 564033270],
  [333, 2, 2, 1571613852],
  [333, 50, 3, 3333192904],
  [1000, 3, 0, 682158672],
  [1000, 7, 3, 2577365444],
  [5000, 1, 2, 1573804476],
  [5000, 7, 0, 1747093758],
  [5000, 50, 1, 1826922948],
  [5000, 1000000, 0, 3306817442],
])(
  '%i values of %i kinds in pattern %i stand as Go leaves them',
  (...[size, values, pattern, hash]) => {
    const items = numbers(size, values, pattern).map((value, index) => ({ value, index }));
    const sorted = goSorted(items, (a, b) => a.value < b.value);
    const found = sorted.reduce((sum, { index }) => (Math.imul(sum, 31) + index) >>> 0, 0);
    expect(found).toBe(hash);
    expect(sorted.map(({ value }) => value)).toEqual(
      items.map(({ value }) => value).toSorted((a, b) => a - b),
    );
  },
);
