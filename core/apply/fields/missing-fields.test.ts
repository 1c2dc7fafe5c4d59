import fc from 'fast-check';
import { expect, test } from 'vitest';
import { missingFields } from './missing-fields.ts';
import { isSubset } from './subset.ts';

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

test('a text of a ConfigMap is no quantity, whatever its key', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap' };
  const [desired, live] = [{ default: '1.10' }, { default: '1.1' }];
  expect(missingFields({ ...object, data: desired }, { ...object, data: live })).toEqual([
    'data.default',
  ]);
});
