import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldTree } from './field-tree.ts';
import { ownedWithout, projectionOf, withOwnFieldsOnly } from './projection.ts';

interface Entry {
  readonly manager: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1: object;
}

function live(entries: readonly Entry[], content: object = {}): KubernetesObject {
  const managedFields = entries.map((entry) => ({ operation: 'Apply', ...entry }));
  return {
    apiVersion: 'v1',
    kind: 'X',
    metadata: { name: 'x', managedFields },
    ...content,
  } as KubernetesObject;
}

const ours = { manager: 'rukpak-core', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } };

test('what others add does not count', () => {
  const before = projectionOf(live([ours], { data: { a: '1' } }));
  const theirs = { manager: 'kubectl', fieldsV1: { 'f:data': { 'f:c': {} } } };
  const status = { ...ours, subresource: 'status', fieldsV1: {} };
  const update = { ...ours, operation: 'Update', fieldsV1: {} };
  const after = live([theirs, status, update, { ...ours, time: 'later' }], {
    data: { a: '1', c: '2' },
    status: { x: 1 },
  });
  expect(projectionOf(after)).toBe(before);
});

test('a field that was taken from us counts', () => {
  const less = { ...ours, fieldsV1: { 'f:data': { 'f:a': {} } } };
  expect(projectionOf(live([less]))).not.toBe(projectionOf(live([ours])));
  expect(projectionOf(live([]))).not.toBe(projectionOf(live([ours])));
});

test('the order of fields does not count', () => {
  const turned = { ...ours, fieldsV1: { 'f:data': { 'f:b': {}, 'f:a': {} } } };
  expect(projectionOf(live([turned]))).toBe(projectionOf(live([ours])));
});

test('without managed fields the content counts, but neither status nor versions', () => {
  const object = (content: object, metadata: object = {}) =>
    projectionOf({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x', ...metadata }, ...content });
  const before = object({ data: { a: '1' } });
  expect(object({ data: { a: '1' }, status: {} }, { resourceVersion: '2' })).toBe(before);
  expect(object({ data: { a: '2' } })).not.toBe(before);
  expect(object({ data: { a: '1' } }, { labels: { x: 'y' } })).not.toBe(before);
});

test('trimming keeps the projection', () => {
  const full = live([{ manager: 'kubectl', fieldsV1: { 'f:spec': {} } }, ours]);
  const trimmed = withOwnFieldsOnly(full);
  expect(JSON.stringify(trimmed)).toContain('kubectl');
  expect(JSON.stringify(trimmed)).not.toContain('f:spec');
  expect(projectionOf(trimmed)).toBe(projectionOf(full));
});

describe('what is ours without what is ignored', () => {
  const object = {
    spec: { replicas: 2, args: ['a', 'b'], containers: [{ name: 'app', image: 'a:1' }] },
  };
  const all = {
    'f:spec': {
      'f:replicas': {},
      'f:args': {},
      'f:containers': { 'k:{"name":"app"}': { 'f:name': {}, 'f:image': {} } },
    },
  };

  function without(fields: object, found: object, ...pointers: readonly string[]) {
    return ownedWithout(fields, fieldTree(pointers, object), found);
  }

  test('does not change when others take ignored fields', () => {
    const { 'f:replicas': _, ...rest } = all['f:spec'];
    const before = without(all, object, '/spec/replicas');
    expect(without({ 'f:spec': rest }, object, '/spec/replicas')).toEqual(before);
    expect(before).toEqual({ 'f:spec': rest });
  });

  test('does not change when they take the only field of its parent', () => {
    const fields = { 'f:data': { '.': {}, 'f:a': {} } };
    expect(ownedWithout(fields, fieldTree(['/data/a'], {}), {})).toEqual({});
    expect(ownedWithout({ 'f:data': { '.': {} } }, fieldTree(['/data/a'], {}), {})).toEqual({});
  });

  test('holds the rest of a list with one owner by its values', () => {
    const before = without(all, object, '/spec/args/1');
    const { 'f:args': _, ...rest } = all['f:spec'];
    const changed = { spec: { ...object.spec, args: ['a', 'theirs'] } };
    expect(without({ 'f:spec': rest }, changed, '/spec/args/1')).toEqual(before);
    const other = { spec: { ...object.spec, args: ['theirs', 'b'] } };
    expect(without({ 'f:spec': rest }, other, '/spec/args/1')).not.toEqual(before);
  });

  test('knows items by their keys', () => {
    expect(without(all, object, '/spec/containers/0/image')).toMatchObject({
      'f:spec': { 'f:containers': { 'k:{"name":"app"}': { 'f:name': {} } } },
    });
    expect(JSON.stringify(without(all, object, '/spec/containers/0/image'))).not.toContain('image');
  });
});
