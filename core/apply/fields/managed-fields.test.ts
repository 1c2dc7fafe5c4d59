import { expect, test } from 'vitest';
import { fieldsBeyond } from './managed-fields.ts';

const containers = { 'k:{"name":"app"}': { '.': {}, 'f:name': {}, 'f:image': {} } };
const all = {
  'f:metadata': { 'f:annotations': { '.': {}, 'f:a.io/b': {} } },
  'f:spec': { 'f:replicas': {}, 'f:containers': containers, 'f:finalizers': { 'v:"x"': {} } },
};

test('a field that one set has and the other not is named as people write it', () => {
  const { 'f:replicas': _, ...spec } = all['f:spec'];
  expect(fieldsBeyond(all, { ...all, 'f:spec': spec })).toEqual(['spec.replicas']);
  const less = { 'k:{"name":"app"}': { '.': {}, 'f:name': {} } };
  expect(
    fieldsBeyond(all, { ...all, 'f:spec': { ...all['f:spec'], 'f:containers': less } }),
  ).toEqual(['spec.containers[name="app"].image']);
});

test('an item that is missing is one path; fields of a missing map are one each', () => {
  expect(fieldsBeyond(all, {})).toEqual([
    'metadata.annotations["a.io/b"]',
    'spec.replicas',
    'spec.containers[name="app"]',
    'spec.finalizers["x"]',
  ]);
});

test('sets that are equal, or of which the other has more, differ in nothing', () => {
  expect(fieldsBeyond(all, all)).toEqual([]);
  expect(fieldsBeyond({}, all)).toEqual([]);
  expect(fieldsBeyond(undefined, all)).toEqual([]);
});
