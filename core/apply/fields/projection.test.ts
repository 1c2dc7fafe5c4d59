import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { projectionOf, withOwnFieldsOnly } from './projection.ts';

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
