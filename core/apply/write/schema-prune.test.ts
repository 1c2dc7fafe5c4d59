import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../api/json.ts';
import { pruneToSchema } from './schema-prune.ts';

const components: JsonObject = {
  'io.Container': {
    type: 'object',
    properties: {
      name: { type: 'string' },
      env: {
        type: 'array',
        items: { default: {}, allOf: [{ $ref: '#/components/schemas/io.EnvVar' }] },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      ports: {
        type: 'array',
        items: { $ref: '#/components/schemas/io.Port' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port', 'protocol'],
      },
    },
  },
  'io.EnvVar': {
    type: 'object',
    properties: { name: { type: 'string' }, value: { type: 'string' } },
  },
  'io.Port': {
    type: 'object',
    properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } },
  },
  'io.Loop': {
    type: 'object',
    properties: { next: { $ref: '#/components/schemas/io.Loop' } },
  },
  'io.Circle': { $ref: '#/components/schemas/io.Circle' },
};

function prune(object: unknown, properties: JsonObject) {
  const spec = { type: 'object', properties };
  const schema = { type: 'object', properties: { spec } };
  const { object: pruned, paths } = pruneToSchema({ spec: object }, { schema, components });
  return { spec: pruned.spec, paths };
}

const containers: JsonObject = {
  containers: { type: 'array', items: { $ref: '#/components/schemas/io.Container' } },
};

test('unknown fields go, each with its path', () => {
  const object = {
    colour: 1,
    containers: [{ name: 'a', env: [{ name: 'A', secret: 1 }], size: 2 }],
  };
  expect(prune(object, containers)).toEqual({
    spec: { containers: [{ name: 'a', env: [{ name: 'A' }] }] },
    paths: ['spec.colour', 'spec.containers[0].env[0].secret', 'spec.containers[0].size'],
  });
});

test('of items with one key the last stays, at its place', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '$(A)' },
    { name: 'A', value: '2' },
  ];
  expect(prune({ containers: [{ env }] }, containers)).toEqual({
    spec: { containers: [{ env: [env[1], env[2]] }] },
    paths: ['spec.containers[0].env[0]'],
  });
});

test('keys that are left out have their default', () => {
  const ports = [{ port: 80 }, { port: 80, protocol: 'UDP' }, { port: 80, protocol: 'TCP' }];
  expect(prune({ containers: [{ ports }] }, containers).paths).toEqual([
    'spec.containers[0].ports[0]',
  ]);
});

test('items without any key, and items that are no maps, are left to the server', () => {
  const env = [{ value: '1' }, { value: '2' }, 'text', 'text', null];
  expect(prune({ containers: [{ env }] }, containers).paths).toEqual([]);
});

test('sets have each value once, other lists are left alone', () => {
  const set = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
  const plain = { type: 'array', items: { type: 'string' } };
  const list = ['a', 'b', 'a', 1, '1'];
  expect(prune({ set: list, plain: list }, { set, plain })).toEqual({
    spec: { set: ['b', 'a', 1, '1'], plain: list },
    paths: ['spec.set[0]'],
  });
});

test('what is open stays', () => {
  const object = {
    labels: { any: 'x' },
    raw: { any: { thing: 1 } },
    free: { known: { odd: 1 }, unknown: 1 },
    port: '80%',
    embedded: { apiVersion: 'v1', kind: 'X', metadata: { any: 1 }, odd: 1 },
    values: { a: { odd: 1 } },
  };
  const known = { type: 'object', properties: { name: {} } };
  const properties: JsonObject = {
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    raw: { type: 'object' },
    free: { type: 'object', properties: { known }, 'x-kubernetes-preserve-unknown-fields': true },
    port: { 'x-kubernetes-int-or-string': true },
    embedded: { type: 'object', properties: {}, 'x-kubernetes-embedded-resource': true },
    values: { type: 'object', additionalProperties: known },
  };
  const { paths } = prune(object, properties);
  expect(paths).toEqual(['spec.free.known.odd', 'spec.embedded.odd', 'spec.values.a.odd']);
});

test('type and metadata of an object stay even where its schema does not list them', () => {
  const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: 1 };
  const schema = { type: 'object', properties: {} };
  expect(pruneToSchema(object, { schema, components: {} }).paths).toEqual(['spec']);
});

test('schemas that refer to themselves end', () => {
  const loop = { $ref: '#/components/schemas/io.Loop' };
  const circle = { $ref: '#/components/schemas/io.Circle' };
  const nowhere = { $ref: '#/components/schemas/io.Nowhere' };
  const object = { loop: { next: { next: { odd: 1 } } }, circle: { any: 1 }, nowhere: { any: 1 } };
  expect(prune(object, { loop, circle, nowhere }).paths).toEqual(['spec.loop.next.next.odd']);
});

test('a key named __proto__ is a field like any other', () => {
  const object = JSON.parse('{"__proto__": {"x": 1}, "a": 1}') as object;
  expect(prune(object, { a: {} })).toEqual({ spec: { a: 1 }, paths: ['spec.__proto__'] });
});

test('pruning again finds nothing, whatever the object', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const once = prune({ containers: value }, containers);
      expect(prune(once.spec, containers)).toEqual({ spec: once.spec, paths: [] });
    }),
  );
});
