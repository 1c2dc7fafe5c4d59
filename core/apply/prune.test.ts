import { expect, test } from 'vitest';
import type { Resource } from '../kube/resource.ts';
import { Inventory } from './inventory.ts';
import { keptByAnnotation, superfluous } from './prune.ts';

const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

interface Place {
  readonly inventory: Inventory;
  readonly resource?: Resource;
}

function put({ inventory, resource = configMaps }: Place, name: string, metadata: object = {}) {
  const reference = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    name: 'demo',
    uid: 'u',
    controller: true,
  };
  const labels = {
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'demo',
  };
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'n',
      resourceVersion: '1',
      labels,
      ownerReferences: [reference],
      ...metadata,
    },
  };
  return inventory.put(resource, object);
}

test('only controlled objects that are no longer wanted go', () => {
  const inventory = new Inventory();
  const wanted = put({ inventory }, 'wanted');
  put({ inventory }, 'goes');
  put({ inventory }, 'kept', { annotations: { 'helm.sh/resource-policy': 'keep' } });
  put({ inventory }, 'going', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  put({ inventory }, 'copied-labels', { ownerReferences: [] });
  const other = { apiVersion: 'v1', kind: 'Service', name: 'demo', uid: 'x', controller: true };
  put({ inventory }, 'of-a-service', { ownerReferences: [other] });
  put({ inventory }, 'deleted').deleted = true;
  const names = superfluous(inventory, 'demo', new Set([wanted.id])).map(({ key }) => key.name);
  expect(names).toEqual(['goes']);
});

test('an object that is watched in two versions is wanted, or goes, once', () => {
  const inventory = new Inventory();
  const wanted = put({ inventory }, 'wanted');
  put({ inventory, resource: { ...configMaps, version: 'v2' } }, 'wanted');
  put({ inventory }, 'goes');
  put({ inventory, resource: { ...configMaps, version: 'v2' } }, 'goes');
  const names = superfluous(inventory, 'demo', new Set([wanted.id])).map(({ key }) => key.name);
  expect(names).toEqual(['goes']);
});

test('what is annotated to be kept stays, and is found while the garbage collector would take it', () => {
  const inventory = new Inventory();
  const keep = { annotations: { 'core.rukpak.io/keep': 'true' } };
  put({ inventory }, 'annotated', keep);
  put({ inventory }, 'of-the-bundle', { ...keep, ownerReferences: [] });
  put({ inventory }, 'not-so', { annotations: { 'core.rukpak.io/keep': 'no' } });
  const names = superfluous(inventory, 'demo', new Set()).map(({ key }) => key.name);
  expect(names).toEqual(['not-so']);
  expect(keptByAnnotation(inventory, 'demo').map(({ key }) => key.name)).toEqual(['annotated']);
});
