import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../../api/json.ts';
import { defaultLimits } from '../../content/index.ts';
import { objectTexts } from './results.ts';

const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

function texts(...objects: readonly unknown[]): readonly string[] {
  return [...objectTexts(objects, { callee: 'class "acme"', limits: defaultLimits })].flat();
}

function cycle(): object {
  const list: unknown[] = [];
  const spec = { list };
  list.push(spec);
  return spec;
}

const shared = { a: 1 };

test.each<[string, unknown]>([
  ['what JSON has', { a: [1, 'x', true, null, { b: -0 }], big: 12345678901234567890n }],
  ['the same object twice, side by side', [shared, shared]],
  ['a key that is none of the prototype’s', JSON.parse('{"__proto__":{"own":true}}')],
  ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 })],
  ['an object of another realm', runInNewContext('({ a: { b: [1] } })')],
])('%s is JSON', (_, value) => {
  expect(texts({ ...whole, value })).toEqual([stringifyJson({ ...whole, value })]);
});

test('an absent property is left out', () => {
  expect(texts({ ...whole, a: undefined })).toEqual([JSON.stringify(whole)]);
});

test.each<[string, unknown, string]>([
  ['a cycle', cycle(), '.value.list[0] refers to what it is a part of'],
  ['a function', { run: () => 1 }, '.value.run is a function'],
  ['a symbol', [Symbol('x')], '.value[0] is a symbol'],
  ['NaN', { n: Number.NaN }, '.value.n is NaN, which JSON does not have'],
  ['a date', { at: new Date(0) }, '.value.at is a Date, which is not JSON'],
  ['bytes', { b: new Uint8Array(1) }, '.value.b is a Uint8Array, which is not JSON'],
  ['a Map', { a: new Map() }, '.value.a is a Map, which is not JSON'],
])('%s is none', (_, value, problem) => {
  expect(() => texts(whole, { ...whole, value })).toThrow(
    `object 2 of what class "acme" made of the bundle cannot be written as JSON: ${problem}`,
  );
});

test('what is nested too deep is none, and is not followed', () => {
  let value: object = {};
  for (let depth = 0; depth < 100_000; depth += 1) value = { value };
  expect(() => texts({ ...whole, value })).toThrow('is nested more than 250 deep');
});
