import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSubset, sameQuantity } from './subset.ts';

test('every JSON value is a subset of itself, and of itself with more in its maps', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(isSubset(value, structuredClone(value))).toBe(true);
      expect(isSubset(value, widened(value))).toBe(true);
    }),
  );
});

test('a changed text is noticed anywhere', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const holder = { deep: [{ value, mark: 'old' }] };
      expect(isSubset(holder, { deep: [{ value, mark: 'new' }] })).toBe(false);
      expect(isSubset(holder, { deep: [] })).toBe(false);
      expect(isSubset(holder, { deep: [...holder.deep, {}] })).toBe(false);
    }),
  );
});

function widened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(widened);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, child]) => [key, widened(child)]);
  return { ...Object.fromEntries(entries), 'added-by-the-server': true };
}

test.each([
  [{ a: null }, {}],
  [{ a: {} }, {}],
  [{ a: { b: null } }, {}],
  [{ a: [] }, {}],
  [{ a: '' }, {}],
  [{ a: 0 }, {}],
  [{ a: false }, {}],
  [{ a: 9007199254740993n }, { a: 9007199254740993n }],
  [{ a: 1n }, { a: 1 }],
  [{ requests: { cpu: '1000m', memory: '1Gi' } }, { requests: { cpu: '1', memory: '1024Mi' } }],
  [{ limits: { cpu: 1 } }, { limits: { cpu: '1' } }],
])('%o matches %o', (desired, live) => {
  expect(isSubset(desired, live)).toBe(true);
});

test.each([
  [{ a: 'x' }, {}],
  [{ a: 1 }, {}],
  [{ a: true }, { a: false }],
  [{ a: '1000m' }, { a: '1' }],
  [{ a: 1 }, { a: '1' }],
  [{ a: 9007199254740993n }, { a: 9007199254740992n }],
  [{ a: { b: 'x' } }, { a: 'text' }],
  [{ a: ['x'] }, { a: { 0: 'x' } }],
  [{ requests: { cpu: '1' } }, { requests: { cpu: '2' } }],
  [{ constructor: 'x' }, {}],
])('%o does not match %o', (desired, live) => {
  expect(isSubset(desired, live)).toBe(false);
});

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

const version = (apiVersion: string, content: string) => ({
  apiVersion,
  kind: 'X',
  spec: { limits: content },
  data: { default: content },
});

test.each([
  ['v1', ['data']],
  ['apps/v1', ['data']],
  ['example.com/v1', ['data', 'spec']],
  ['snapshot.storage.k8s.io/v1', ['data', 'spec']],
  ['apiextensions.k8s.io/v1', ['data', 'spec']],
])('in %s, 1.10 is another text than 1.1 in %j', (apiVersion, other) => {
  const { spec, data, ...object } = version(apiVersion, '1.10');
  const before = version(apiVersion, '1.1');
  const isOther = (part: object): boolean => !isSubset({ ...object, ...part }, before);
  expect({ data: isOther({ data }), spec: isOther({ spec }) }).toEqual({
    data: other.includes('data'),
    spec: other.includes('spec'),
  });
});
