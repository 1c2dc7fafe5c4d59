import { beforeEach, describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../../../api/meta.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { anOwnedCRD, anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { Inventory } from '../inventory/inventory.ts';
import { planRemoval, removalStages, type Wanted } from './prune-plan.ts';

describe('removal plan', () => {
  let inventory: Inventory;

  beforeEach(() => {
    inventory = new Inventory();
  });

  function plan(policy: DeletionPolicy = 'Delete', wanted?: Wanted) {
    const owner = aStoredDeployment();
    const { orphan, remove } = planRemoval(inventory, { owner, policy, ...(wanted && { wanted }) });
    return { orphan: namesOf([...orphan.keys()]), remove: namesOf(remove) };
  }

  function reasons(): Record<string, string> {
    const { orphan } = planRemoval(inventory, { owner: aStoredDeployment(), policy: 'Delete' });
    return Object.fromEntries([...orphan].map(([{ key }, because]) => [key.name, because]));
  }

  function namesOf(entries: readonly InventoryEntry[]): string[] {
    return entries.map(({ key }) => key.name);
  }

  function put(kindAndGroup: string, name: string, metadata: ObjectMeta = {}): InventoryEntry {
    return anOwnedEntry(kindAndGroup, { name, metadata }, inventory);
  }

  function wants(...entries: readonly InventoryEntry[]): Wanted {
    return { ids: new Set(entries.map(({ id }) => id)), objects: entries, omitted: [] };
  }

  const keep = { annotations: { 'core.rukpak.io/keep': 'true' } };

  const trackingID = 'core.rukpak.io/tracking-id';

  /**
   * Marks of object `original` in namespace `n` of deployment `demo`, unless other values are
   * given.
   */
  function marked(uid = 'uid-of-demo', kind = '/ConfigMap', path = 'n/original'): ObjectMeta {
    return { annotations: { [trackingID]: `${uid}:${kind}:${path}` } };
  }

  test('Delete removes what core made for this very deployment', () => {
    put('ConfigMap', 'goes');
    const reference = {
      apiVersion: 'core.rukpak.io/v1alpha1',
      kind: 'BundleDeployment',
      name: 'demo',
      uid: 'uid-of-demo',
      controller: true,
    };
    const unmarked = { annotations: { [trackingID]: undefined as unknown as string } };
    put('ConfigMap', 'of-rukpak', { ...unmarked, ownerReferences: [reference] });
    expect(plan()).toEqual({ orphan: [], remove: ['goes'] });
  });

  test('objects of an optional kind stay while the cluster seems not to serve it', () => {
    put('ServiceMonitor.monitoring.coreos.com', 'stays');
    put('ConfigMap', 'goes');
    const omitted = [{ group: 'monitoring.coreos.com', kind: 'ServiceMonitor' }];
    expect(plan('Delete', { ...wants(), omitted })).toEqual({ orphan: [], remove: ['goes'] });
  });

  test.each<[why: string, metadata: ObjectMeta]>([
    ['a copy under another name', marked()],
    ['a copy in another namespace', marked('uid-of-demo', '/ConfigMap', 'elsewhere/stranger')],
    ['a copy of another kind', marked('uid-of-demo', '/Secret', 'n/stranger')],
    ['a copy of another group', marked('uid-of-demo', 'example.com/ConfigMap', 'n/stranger')],
    ['what an earlier deployment left', marked('earlier', '/ConfigMap', 'n/stranger')],
    ['what bears our labels alone', { annotations: { [trackingID]: '' } }],
    ['a mark that names nobody', { annotations: { [trackingID]: ':/ConfigMap:n/stranger' } }],
  ])('%s stays as it is', (_, metadata) => {
    put('ConfigMap', 'stranger', metadata);
    expect(plan()).toEqual({ orphan: [], remove: [] });
    expect(plan('Orphan')).toEqual({ orphan: [], remove: [] });
  });

  test('objects of another controller stay unchanged', () => {
    const other = { apiVersion: 'v1', kind: 'Service', name: 'demo', uid: 'x', controller: true };
    put('EndpointSlice.discovery.k8s.io', 'of-a-service', { ownerReferences: [other] });
    expect(plan()).toEqual({ orphan: [], remove: [] });
  });

  test('kept objects stay, and become nobody’s', () => {
    put('ConfigMap', 'annotated', keep);
    put('ConfigMap', 'kept-by-helm', { annotations: { 'helm.sh/resource-policy': 'keep' } });
    put('ConfigMap', 'kept-by-helm-too', { annotations: { 'helm.sh/resource-policy': ' Keep' } });
    const orphan = ['annotated', 'kept-by-helm', 'kept-by-helm-too'];
    expect(plan()).toEqual({ orphan, remove: [] });
  });

  test('the CRD of a kept custom resource stays, and no other one', () => {
    anOwnedCRD('Gizmo', inventory);
    anOwnedCRD('Widget', inventory);
    put('Gizmo.example.com', 'kept', keep);
    put('Gizmo.example.com', 'goes');
    put('Widget.elsewhere.example', 'of another group', keep);
    expect(plan()).toEqual({
      orphan: ['kept', 'of another group', 'gizmos.example.com'],
      remove: ['widgets.example.com', 'goes'],
    });
    expect(reasons()['gizmos.example.com']).toBe(
      'Gizmo/n/kept is kept, and the API server would delete it with its CRD',
    );
  });

  test('a kept custom resource that is being deleted keeps no CRD', () => {
    anOwnedCRD('Gizmo', inventory);
    put('Gizmo.example.com', 'going', { ...keep, deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(plan()).toEqual({ orphan: ['going'], remove: ['gizmos.example.com'] });
  });

  describe('an upgrade', () => {
    test('leaves the CRD of custom resources that are wanted', () => {
      anOwnedCRD('Gizmo', inventory);
      const wanted = put('Gizmo.example.com', 'wanted');
      expect(plan('Delete', wants(wanted))).toEqual({
        orphan: ['gizmos.example.com'],
        remove: [],
      });
    });

    test('leaves the CRD of optional custom resources that wait for it to be served', () => {
      anOwnedCRD('Gizmo', inventory);
      put('Gizmo.example.com', 'stored');
      const omitted = [{ group: 'example.com', kind: 'Gizmo' }];
      const none = { orphan: ['gizmos.example.com'], remove: [] };
      expect(plan('Delete', { ...wants(), omitted })).toEqual(none);
    });

    test('removes unwanted objects that are not being deleted already', () => {
      const wanted = put('ConfigMap', 'wanted');
      put('ConfigMap', 'goes');
      put('ConfigMap', 'kept', keep);
      put('ConfigMap', 'going', { deletionTimestamp: '2026-01-01T00:00:00Z' });
      put('ConfigMap', 'deleted').deleted = true;
      expect(plan('Delete', wants(wanted))).toEqual({ orphan: ['kept'], remove: ['goes'] });
    });

    test('leaves a namespace while something that is wanted is in it', () => {
      const wanted = put('ConfigMap', 'wanted');
      const inhabited = put('Namespace', 'n');
      put('Namespace', 'empty');
      expect(plan('Delete', wants(wanted))).toEqual({ orphan: ['n'], remove: ['empty'] });
      expect(plan('Delete', wants(wanted, inhabited))).toEqual({ orphan: [], remove: ['empty'] });
    });

    test('orphans the objects that its class has left out, with the reason of the class', () => {
      put('Gizmo.example.com', 'sample');
      put('Gizmo.example.com', 'goes');
      put('Gizmo.elsewhere.example', 'of another group');
      const because = 'it is a sample';
      const leftOut = ['sample', 'of another group', 'absent'].map((name) => {
        return { apiVersion: 'example.com/v2', kind: 'Gizmo', namespace: 'n', name, because };
      });
      const wanted = { ...wants(), leftOut };
      expect(plan('Delete', wanted)).toEqual({
        orphan: ['sample'],
        remove: ['goes', 'of another group'],
      });
      const { orphan } = planRemoval(inventory, {
        owner: aStoredDeployment(),
        policy: 'Delete',
        wanted,
      });
      expect([...orphan.values()]).toEqual(['its class leaves it out: it is a sample']);
    });

    test('tells the namespaces of left-out objects apart, which cluster-scoped objects have not', () => {
      put('Gizmo.example.com', 'goes');
      put('Namespace', 'stays');
      const leftOut = [
        { apiVersion: 'example.com/v1', kind: 'Gizmo', name: 'goes' },
        { apiVersion: 'v1', kind: 'Namespace', name: 'stays' },
      ].map((object) => ({ ...object, namespace: 'another', because: 'it is a sample' }));
      expect(plan('Delete', { ...wants(), leftOut })).toEqual({
        orphan: ['stays'],
        remove: ['goes'],
      });
    });

    test('plans an object that is watched in two versions once', () => {
      const { resource, object } = put('Gizmo.example.com', 'goes');
      inventory.put({ ...resource, version: 'v2' }, object);
      expect(plan('Delete', wants())).toEqual({ orphan: [], remove: ['goes'] });
    });

    test.each<[DeletionPolicy, orphan: string[], remove: string[]]>([
      ['KeepCRDs', ['gizmos.example.com', 'one'], ['cm']],
      ['Orphan', ['gizmos.example.com', 'one', 'cm'], []],
    ])('keeps to policy %s', (policy, orphan, remove) => {
      anOwnedCRD('Gizmo', inventory);
      put('Gizmo.example.com', 'one');
      put('ConfigMap', 'cm');
      expect(plan(policy, wants())).toEqual({ orphan, remove });
    });
  });

  test('Orphan leaves everything, and once only what is watched in two versions', () => {
    put('ConfigMap', 'a');
    put('ConfigMap', 'kept', keep);
    const { resource, object } = anOwnedEntry('Gizmo.example.com', { name: 'g' }, inventory);
    inventory.put({ ...resource, version: 'v2' }, object);
    expect(plan('Orphan')).toEqual({ orphan: ['a', 'kept', 'g'], remove: [] });
  });

  test('KeepCRDs leaves CRDs and their custom resources', () => {
    anOwnedCRD('Gizmo', inventory);
    put('Gizmo.example.com', 'one');
    put('Gizmo.elsewhere.example', 'of another group');
    put('ConfigMap', 'cm');
    expect(plan('KeepCRDs')).toEqual({
      orphan: ['gizmos.example.com', 'one'],
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
    expect(stages).toEqual([['last'], ['one'], ['gizmos.example.com'], ['app'], ['sa'], ['ns']]);
    const early = put('ConfigMap', 'early', { annotations: { 'core.rukpak.io/stage': '-20' } });
    const space = put('Namespace', 'n');
    expect(removalStages([space, early]).map(namesOf)).toEqual([['early'], ['n']]);
  });
});

describe('hook objects stay', () => {
  const owner = aStoredDeployment();
  let inventory: Inventory;

  beforeEach(() => {
    inventory = new Inventory();
    const annotations = { 'core.rukpak.io/hook-run': 'pre-install' };
    anOwnedEntry('Job.batch', { name: 'hook', metadata: { annotations } }, inventory);
    anOwnedEntry('ConfigMap', { name: 'kept' }, inventory);
  });

  function names(entries: readonly { readonly key: { readonly name: string } }[]): string[] {
    return entries.map(({ key }) => key.name).toSorted();
  }

  test.each<[DeletionPolicy, orphan: string[], remove: string[]]>([
    ['Delete', [], ['kept']],
    ['KeepCRDs', [], ['kept']],
    ['Orphan', ['kept'], []],
  ])('an upgrade with policy %s leaves objects of hooks as they are', (policy, orphan, remove) => {
    const annotations = { 'core.rukpak.io/hook-run': 'pre-install' };
    const crd = 'CustomResourceDefinition.apiextensions.k8s.io';
    anOwnedEntry(crd, { name: 'of-hook', metadata: { annotations } }, inventory);
    const wanted = { ids: new Set<string>(), objects: [], omitted: [] };
    const plan = planRemoval(inventory, { owner, policy, wanted });
    expect(names(plan.remove)).toEqual(remove);
    expect(names([...plan.orphan.keys()])).toEqual(orphan);
  });

  test('objects of hooks are left to the garbage collector when their deployment is deleted', () => {
    const plan = planRemoval(inventory, { owner, policy: 'Delete' });
    expect(names(plan.remove)).toEqual(['kept']);
    expect(plan.orphan.size).toBe(0);
  });

  test.each<[DeletionPolicy, orphan: string[], remove: string[]]>([
    ['Delete', [], ['claim', 'crd', 'kept', 'space']],
    ['KeepCRDs', ['crd'], ['claim', 'kept', 'space']],
  ])('with policy %s, those that may hold data are not left to it', (policy, orphan, remove) => {
    const metadata = { annotations: { 'core.rukpak.io/hook-run': 'pre-install' } };
    for (const [kind, name] of [
      ['PersistentVolumeClaim', 'claim'],
      ['Namespace', 'space'],
      ['CustomResourceDefinition.apiextensions.k8s.io', 'crd'],
    ] as const) {
      anOwnedEntry(kind, { name, metadata }, inventory);
    }
    const plan = planRemoval(inventory, { owner, policy });
    expect(names(plan.remove)).toEqual(remove);
    expect(names([...plan.orphan.keys()])).toEqual(orphan);
  });

  test('objects of hooks stay when the policy orphans everything', () => {
    const plan = planRemoval(inventory, { owner, policy: 'Orphan' });
    expect(names([...plan.orphan.keys()])).toEqual(['hook', 'kept']);
  });

  test('an object of a hook that somebody annotates to be kept outlives its deployment', () => {
    const reference = { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'BundleDeployment' };
    const controller = { ...reference, name: 'demo', uid: 'uid-of-demo', controller: true };
    const annotations = { 'core.rukpak.io/hook-run': 'r', 'core.rukpak.io/keep': 'true' };
    const ours = { annotations, ownerReferences: [controller] };
    anOwnedEntry('Secret', { name: 'annotated', metadata: ours }, inventory);
    // Kept by its bundle: without ownerReference, and replaced by the next run.
    const kept = { annotations: { ...annotations, 'operator-sdk/primary-resource': '/demo' } };
    anOwnedEntry('Secret', { name: 'of-bundle', metadata: kept }, inventory);
    anOwnedEntry('PersistentVolumeClaim', { name: 'data', metadata: kept }, inventory);
    const plan = planRemoval(inventory, { owner, policy: 'Delete' });
    expect(names([...plan.orphan.keys()])).toEqual(['annotated']);
    expect(names(plan.remove)).toEqual(['kept']);
    const wanted = { ids: new Set<string>(), objects: [], omitted: [] };
    expect(planRemoval(inventory, { owner, policy: 'Delete', wanted }).orphan.size).toBe(0);
  });
});
