import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { desiredObject } from './desired.ts';

const owner = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  metadata: { name: 'demo', uid: 'u1' },
  spec: {},
} as unknown as BundleDeployment;

const namespaced = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

/** The desired state of an object `a` without a namespace. */
const marks = { 'core.rukpak.io/tracking-id': 'u1:/ConfigMap:rukpak-system/a' };

function desired(content: object, resource = namespaced) {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', ...content } as KubernetesObject;
  return desiredObject(object, resource, { owner, systemNamespace: 'rukpak-system' });
}

test('namespaced objects without a namespace go to the system namespace', () => {
  expect(desired({ metadata: { name: 'a' } }).object.metadata.namespace).toBe('rukpak-system');
  expect(desired({ metadata: { name: 'a', namespace: '' } }).key.namespace).toBe('rukpak-system');
  expect(desired({ metadata: { name: 'a', namespace: 'x' } }).object.metadata.namespace).toBe('x');
});

test('cluster-scoped objects lose their namespace', () => {
  const { object, key, id } = desired(
    { metadata: { name: 'a', namespace: 'x' } },
    { ...namespaced, kind: 'Namespace', namespaced: false },
  );
  expect(object.metadata).not.toHaveProperty('namespace');
  expect(key).toEqual({ name: 'a' });
  expect(id).toBe('|Namespace||a');
});

test("the content's own marks stay, the owner's win", () => {
  const { object } = desired({
    metadata: {
      name: 'a',
      labels: { mine: '1', 'core.rukpak.io/owner-name': 'forged' },
      annotations: { note: 'kept' },
      finalizers: ['example.com/f'],
    },
  });
  expect(object.metadata.labels).toMatchObject({
    mine: '1',
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'demo',
  });
  expect(object.metadata.annotations).toMatchObject({ note: 'kept' });
  expect(object.metadata.finalizers).toEqual(['example.com/f']);
});

test('what only the server may set is dropped', () => {
  const { object } = desired({
    metadata: {
      name: 'a',
      uid: 'x',
      resourceVersion: '1',
      generation: 2,
      creationTimestamp: null,
      managedFields: [],
      selfLink: '/x',
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'other', controller: true },
      ],
    },
    data: { status: 'stays' },
    status: { phase: 'gone' },
  });
  expect(Object.keys(object.metadata).sort()).toEqual([
    'annotations',
    'labels',
    'name',
    'namespace',
  ]);
  expect(object).not.toHaveProperty('status');
  expect(object['data']).toEqual({ status: 'stays' });
});

test('what was copied from the object of a hook is none: it would never be pruned', () => {
  const annotations = { 'core.rukpak.io/hook-run': 'pre-install', mine: 'yes' };
  const { object } = desired({ metadata: { name: 'a', annotations } });
  expect(object.metadata.annotations).toEqual({ ...marks, mine: 'yes' });
});

test('kept objects carry annotations instead of a reference', () => {
  const { object } = desired({
    metadata: { name: 'a', annotations: { 'helm.sh/resource-policy': 'keep' } },
  });
  expect(object.metadata.annotations).toEqual({
    ...marks,
    'helm.sh/resource-policy': 'keep',
    'operator-sdk/primary-resource': '/demo',
    'operator-sdk/primary-resource-type': 'BundleDeployment.core.rukpak.io',
  });
});

test('stringData of a Secret becomes data', () => {
  const { object } = desired({
    kind: 'Secret',
    metadata: { name: 'a' },
    data: { a: 'b2xk', b: 'Yg==' },
    stringData: { a: 'nü' },
  });
  expect(object).not.toHaveProperty('stringData');
  expect(object['data']).toEqual({ a: Buffer.from('nü').toString('base64'), b: 'Yg==' });
  const wrong = desired({ kind: 'Secret', metadata: { name: 'a' }, stringData: { a: 1 } });
  expect(wrong.object['stringData']).toEqual({ a: 1 });
});

test('the digest does not depend on the order of keys and depends on everything else', () => {
  const one = desired({ metadata: { name: 'a' }, data: { a: '1', b: '2' } });
  const two = desired({ data: { b: '2', a: '1' }, metadata: { name: 'a' } });
  const three = desired({ metadata: { name: 'a' }, data: { a: '1', b: '3' } });
  expect(two.digest).toBe(one.digest);
  expect(three.digest).not.toBe(one.digest);
});

test('a key named __proto__ is content like any other', () => {
  const data = JSON.parse('{"__proto__": "x"}') as object;
  const { object, digest } = desired({ metadata: { name: 'a' }, data });
  expect(JSON.stringify(object['data'])).toBe('{"__proto__":"x"}');
  expect(digest).not.toBe(desired({ metadata: { name: 'a' }, data: {} }).digest);
});

test('the mark names the deployment and the object; the garbage collector finds none through it', () => {
  const metadata = { name: 'a', annotations: { 'core.rukpak.io/tracking-id': 'of another' } };
  const { object } = desired({ metadata });
  expect(object.metadata.annotations).toEqual(marks);
  expect(object.metadata).not.toHaveProperty('ownerReferences');
});
