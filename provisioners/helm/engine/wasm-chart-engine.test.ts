import { expect, test } from 'vitest';
import { readableError } from './wasm-chart-engine.ts';

test('an error that a person can read is kept as it is', () => {
  expect(readableError('x'.repeat(8_000))).toHaveLength(8_000);
});

test('a longer one keeps its beginning and its end, and says what is left out', () => {
  const error = `first ${'again '.repeat(20_000)}last`;
  const shown = readableError(error);
  expect(shown.length).toBeLessThan(4_100);
  expect(shown).toMatch(/^first again .* … \(116010 characters\) … .* again last$/);
});
