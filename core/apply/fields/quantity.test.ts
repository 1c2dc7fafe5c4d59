import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sameQuantity } from './quantity.ts';

test.each([
  ['1', '1000m'],
  ['0.5', '500m'],
  ['1Gi', '1024Mi'],
  ['1.5Ki', '1536'],
  ['1k', '1000'],
  ['1e3', '1k'],
  ['2E0', '2'],
  ['.5', '0.50'],
  ['-1', '-1000m'],
  ['+1', '1'],
])('%s is %s', (a, b) => {
  expect(sameQuantity(a, b)).toBe(true);
  expect(sameQuantity(b, a)).toBe(true);
});

test.each([
  ['1', '2'],
  ['1', '-1'],
  ['1M', '1m'],
  ['1Mi', '1M'],
  ['text', 'text2'],
  ['', ''],
  ['1Qi', '1Qi'],
  ['1..2', '1..2'],
])('%s is not %s', (a, b) => {
  expect(sameQuantity(a, b)).toBe(false);
});

test('any text is answered', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => typeof sameQuantity(a, b) === 'boolean'),
  );
});
