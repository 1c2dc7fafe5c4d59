import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { isApplied } from './live-match.ts';

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

const list = [{ name: 'one' }];
const named = { 'f:list': { 'k:{"name":"one"}': { '.': {}, 'f:name': {} } } };
const atomic = { 'f:list': {} };

/** Whether an object with this content is as desired where core owns this part of it. */
function isAsDesired(apiVersion: string, spec: object, owned: object): boolean {
  const fields = { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': owned };
  const { metadata, ...live } = liveWith(fields, { apiVersion, spec: { list } });
  const labels = { a: '1' };
  const desired = { apiVersion, kind: 'X', metadata: { name: 'x', labels }, spec };
  return isApplied(desired, { ...live, apiVersion, metadata: { ...metadata, labels } });
}

test.each<[what: string, spec: object]>([
  ['false', { list, enabled: false }],
  ['zero', { list, replicas: 0 }],
  ['an empty text', { list, text: '' }],
  ['an empty map', { list, tls: {} }],
  ['an empty list', { list, args: [] }],
  ['false deeper down', { list, tls: { verify: false } }],
  ['false in an item', { list: [{ name: 'one', enabled: false }] }],
])('a new version that adds %s to an object is not applied yet', (_, spec) => {
  expect(isAsDesired('v1', spec, named)).toBe(false);
  expect(isAsDesired('example.com/v1', spec, named)).toBe(false);
});

const inItem = { list: [{ name: 'one', enabled: false }] };

test.each([
  ['v1', { list, enabled: false }, { ...named, 'f:enabled': {} }, true],
  ['v1', { list, tls: {} }, { ...named, 'f:tls': {} }, true],
  ['apiextensions.k8s.io/v1', { list, enabled: false }, { ...named, 'f:enabled': {} }, true],
  ['v1', inItem, atomic, true],
  // The API server stores empty values of custom resources, and of schemas in CRDs.
  ['example.com/v1', inItem, atomic, false],
  ['apiextensions.k8s.io/v1', inItem, atomic, false],
])('in %s, %j, of which core owns %j, may lack its empty value: %s', (...row) => {
  const [apiVersion, spec, owned, expected] = row;
  expect(isAsDesired(apiVersion, spec, owned)).toBe(expected);
});
