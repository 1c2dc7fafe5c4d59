import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { findNoJson } from './json-check.ts';

function cycle(): object {
  const list: unknown[] = [];
  const object = { spec: { list } };
  list.push(object.spec);
  return object;
}

const shared = { a: 1 };

test.each<[string, unknown]>([
  ['what JSON has', { a: [1, 'x', true, null, { b: -0 }], big: 12345678901234567890n }],
  ['an absent property', { a: undefined }],
  ['the same object twice, side by side', [shared, shared]],
  ['a key that is none of the prototype’s', JSON.parse('{"__proto__":{"own":true}}')],
  ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
  ['an object of another realm', runInNewContext('({ a: { b: [1] } })')],
])('%s is JSON', (_, value) => {
  expect(findNoJson(value)).toBeUndefined();
});

test.each<[string, unknown, string]>([
  ['a cycle', cycle(), '.spec.list[0] refers to what it is a part of'],
  ['a function', { data: { run: () => 1 } }, '.data.run is a function'],
  ['a symbol', [Symbol('x')], '[0] is a symbol'],
  ['NaN', { n: Number.NaN }, '.n is NaN, which JSON does not have'],
  ['a date', { at: new Date(0) }, '.at is a Date, which is no JSON'],
  ['bytes', { b: new Uint8Array(1) }, '.b is a Uint8Array, which is no JSON'],
  ['a Map', { a: new Map() }, '.a is a Map, which is no JSON'],
])('%s is none', (_, value, problem) => {
  expect(findNoJson(value)).toBe(`cannot be written as JSON: ${problem}`);
});

test('what is nested too deep is none, and is not followed', () => {
  let value: object = {};
  for (let depth = 0; depth < 100_000; depth += 1) value = { value };
  expect(findNoJson(value)).toBe('is nested more than 250 deep');
});
