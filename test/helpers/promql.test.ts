import { expect, test } from 'vitest';
import { metricsOf, promqlProblem } from './promql.ts';

test.each([
  ['sum by (le) (rate(a_bucket[5m])', '"(" is not closed'],
  ['sum(a))', '")" closes nothing'],
  ['a{b="(("} > 0', undefined],
  ['a >', 'an operator lacks a side'],
  ['min by (a) (b) - time() < 7 * 24 * 3600', undefined],
])('%s', (expression, problem) => {
  expect(promqlProblem(expression)).toBe(problem);
});

test('metrics are told from functions, labels and words', () => {
  expect(
    metricsOf('sum by (le, x) (rate(a_total{code=~"5.."}[5m])) / b or absent(c{d="e"})'),
  ).toEqual(['a_total', 'b', 'c']);
});
