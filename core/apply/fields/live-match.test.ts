import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { isApplied, isSubset, missingFields, sameQuantity } from './live-match.ts';

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

function liveWith(fieldsV1: object, content: object = {}): KubernetesObject {
  const managedFields = [
    { manager: 'other', operation: 'Update', fieldsV1: { 'f:data': { 'f:theirs': {} } } },
    { manager: 'rukpak-core', operation: 'Apply', fieldsV1 },
  ];
  const metadata = { name: 'x', managedFields };
  return { apiVersion: 'v1', kind: 'X', ...content, metadata };
}

const desired = {
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x' },
  data: { a: '1' },
  ports: [{ port: 80 }],
  names: ['one'],
};
const content = {
  data: { a: '1', theirs: '2' },
  ports: [{ port: 80, protocol: 'TCP' }],
  names: ['one'],
};

test.each([
  [{ 'f:data': { 'f:a': {} } }],
  [{ 'f:data': { '.': {}, 'f:a': {} } }],
  [{ 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } }],
  [{ 'f:names': { 'v:"one"': {} } }],
  [{ 'f:names': { 'i:0': {} } }],
])('owning %j is owning what is desired', (fields) => {
  expect(isApplied(desired, liveWith(fields, content))).toBe(true);
});

test.each([
  [{ 'f:data': { 'f:a': {}, 'f:b': {} } }],
  [{ 'f:ports': { 'k:{"port":81,"protocol":"TCP"}': {} } }],
  [{ 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:nodePort': {} } } }],
  [{ 'f:names': { 'v:"two"': {} } }],
  [{ 'f:names': { 'i:1': {} } }],
  [{ 'f:spec': {} }],
  [{ 'unknown:x': {} }],
])('owning %j is owning more', (fields) => {
  expect(isApplied(desired, liveWith(fields, content))).toBe(false);
});

test('an object that we never applied is not applied', () => {
  expect(isApplied(desired, { ...desired, ...content })).toBe(false);
});

test.each([
  [{ spec: { replicas: 2 } }, { spec: { replicas: 5, other: 1 } }, ['spec.replicas']],
  [{ data: { 'a.b/c': 'x' } }, { data: {} }, ['data["a.b/c"]']],
  [{ data: { a: 'x', b: 'y' } }, {}, ['data']],
  [{ args: ['a', 'b'] }, { args: ['a', 'x'] }, ['args[1]']],
  [{ args: ['a', 'b'] }, { args: ['a'] }, ['args']],
  [
    { containers: [{ name: 'app', image: 'a:1' }] },
    { containers: [{ name: 'injected' }, { name: 'app', image: 'a:2' }] },
    ['containers[name="app"].image'],
  ],
  [
    { containers: [{ name: 'app' }, { name: 'side' }] },
    { containers: [{ name: 'app' }] },
    ['containers[name="side"]'],
  ],
  [{ a: 'text' }, { a: { b: 1 } }, ['a']],
])('%j in %j: %j', (desired, live, paths) => {
  expect(missingFields(desired, live)).toEqual(paths);
});

test.each([
  [
    { containers: [{ name: 'app' }] },
    { containers: [{ name: 'injected' }, { name: 'app', x: 1 }] },
  ],
  [{ resources: { limits: { cpu: '1000m' } } }, { resources: { limits: { cpu: '1' } } }],
  [{ a: { b: null }, c: '' }, {}],
])('%j is all in %j', (desired, live) => {
  expect(missingFields(desired, live)).toEqual([]);
});

test('what is a subset misses nothing; what differs in one text misses that', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (desired, live) => {
      if (isSubset(desired, live)) expect(missingFields(desired, live)).toEqual([]);
      const before = { deep: { value: desired, mark: 'old' } };
      expect(missingFields(before, { deep: { value: desired, mark: 'new' } })).toEqual([
        'deep.mark',
      ]);
    }),
  );
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
