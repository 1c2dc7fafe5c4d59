import { describe, expect, test } from 'vitest';
import { fieldTree } from './field-tree.ts';
import { ownedWithout } from './owned-without.ts';

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
