import { beforeEach, expect, test } from 'vitest';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { anOwnedCRD, anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { Inventory, type InventoryEntry } from '../inventory/inventory.ts';
import { planRemoval, removalStages } from './removal-plan.ts';

let inventory: Inventory;

beforeEach(() => {
  inventory = new Inventory();
});

function plan(policy: DeletionPolicy = 'Delete') {
  const { leave, remove } = planRemoval(inventory, { owner: aStoredDeployment(), policy });
  return { leave: namesOf(leave), remove: namesOf(remove) };
}

function namesOf(entries: readonly InventoryEntry[]): string[] {
  return entries.map(({ key }) => key.name);
}

function put(kindAndGroup: string, name: string, metadata: object = {}): void {
  anOwnedEntry(kindAndGroup, { name, metadata }, inventory);
}

const keep = { annotations: { 'core.rukpak.io/keep': 'true' } };

test('Delete removes what the deployment controls; what others labelled alike stays theirs', () => {
  put('ConfigMap', 'goes');
  const annotations = { 'core.rukpak.io/owner-uid': 'uid-of-demo' };
  put('ConfigMap', 'goes-in-order', { ownerReferences: [], annotations });
  put('ConfigMap', 'copied-labels', { ownerReferences: [] });
  const other = { apiVersion: 'v1', kind: 'Service', name: 'demo', uid: 'x', controller: true };
  put('EndpointSlice.discovery.k8s.io', 'of-a-service', { ownerReferences: [other] });
  expect(plan()).toEqual({ leave: [], remove: ['goes', 'goes-in-order'] });
});

test('kept objects stay: ours loses its reference first, that of the bundle has none', () => {
  put('ConfigMap', 'annotated-live', keep);
  put('ConfigMap', 'kept-by-the-bundle', { ...keep, ownerReferences: [] });
  put('ConfigMap', 'kept-by-helm', { annotations: { 'helm.sh/resource-policy': 'keep' } });
  expect(plan()).toEqual({ leave: ['annotated-live', 'kept-by-helm'], remove: [] });
});

test('Orphan leaves everything, and once only what is watched in two versions', () => {
  put('ConfigMap', 'a');
  put('ConfigMap', 'kept', { ...keep, ownerReferences: [] });
  const { resource, object } = anOwnedEntry('Gizmo.example.com', { name: 'g' }, inventory);
  inventory.put({ ...resource, version: 'v2' }, object);
  expect(plan('Orphan')).toEqual({ leave: ['a', 'kept', 'g'], remove: [] });
});

test('KeepCRDs leaves CRDs and their custom resources', () => {
  anOwnedCRD('Gizmo', inventory);
  put('Gizmo.example.com', 'one');
  put('Gizmo.elsewhere.example', 'of another group');
  put('ConfigMap', 'cm');
  expect(plan('KeepCRDs')).toEqual({
    leave: ['gizmos.example.com', 'one'],
    remove: ['of another group', 'cm'],
  });
});

test('stages come in reverse, by annotation or else by kind', () => {
  anOwnedCRD('Gizmo', inventory);
  put('ServiceAccount', 'sa');
  put('Deployment.apps', 'app');
  put('Gizmo.example.com', 'one');
  put('ConfigMap', 'last', { annotations: { 'core.rukpak.io/stage': '99' } });
  put('Namespace', 'ns');
  const stages = removalStages(inventory.ownedBy('demo')).map(namesOf);
  expect(stages).toEqual([['last'], ['one'], ['app'], ['sa'], ['gizmos.example.com', 'ns']]);
});
