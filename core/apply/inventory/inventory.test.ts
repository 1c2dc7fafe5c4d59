import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Resource } from '../../platform/kube/index.ts';
import { hasFormerFields, otherManagers } from '../fields/managed-fields.ts';
import { slim } from './entry.ts';
import { Inventory } from './inventory.ts';

const configMaps: Resource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

let inventory: Inventory;
let heard: string[];

beforeEach(() => {
  inventory = new Inventory();
  heard = [];
  inventory.subscribe({
    hear: ({ type, entry: { key, object } }) => {
      const { resourceVersion } = object.metadata;
      heard.push(type === 'changed' ? `${key.name}@${resourceVersion}` : `-${key.name}`);
    },
  });
});

function live(name: string, resourceVersion: string, owner = 'demo'): KubernetesObject {
  const labels = {
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': owner,
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'n', resourceVersion, labels },
    data: { a: '1' },
  };
}

function names(owner = 'demo'): string[] {
  return inventory.ownedBy(owner).map(({ key }) => key.name);
}

test('lists, events and relists are followed', () => {
  const sink = inventory.sink(configMaps);
  sink.replace([live('a', '9'), live('b', '2', 'other')], '9');
  sink.upsert(live('a', '10'));
  sink.upsert(live('c', '11'));
  sink.remove(live('b', '12', 'other'));
  expect(names()).toEqual(['a', 'c']);
  expect(names('other')).toEqual([]);
  sink.replace([live('c', '11')], '12');
  expect(names()).toEqual(['c']);
  expect(heard).toEqual(['a@9', 'b@2', 'a@10', 'c@11', '-b', '-a']);
});

test('an answer that overtakes its event silences it', () => {
  const sink = inventory.sink(configMaps);
  inventory.put(configMaps, live('a', '10'));
  sink.upsert(live('a', '9'));
  sink.upsert(live('a', '10'));
  sink.remove(live('a', '8'));
  expect(heard).toEqual([]);
  expect(names()).toEqual(['a']);
  sink.upsert(live('a', '11'));
  expect(heard).toEqual(['a@11']);
});

test('an answer that is older than its events is not stored', () => {
  inventory.sink(configMaps).upsert(live('a', '11'));
  const entry = inventory.put(configMaps, live('a', '10'));
  expect(entry.object.metadata.resourceVersion).toBe('10');
  const key = { namespace: 'n', name: 'a' };
  expect(inventory.get(configMaps, key)?.object.metadata.resourceVersion).toBe('11');
});

describe('an answer about an object of whose deletion no watch would tell is not stored', () => {
  test('because the watch of its kind has ended meanwhile', () => {
    inventory.sink(configMaps).replace([], '5');
    inventory.dropKind(configMaps);
    inventory.put(configMaps, live('a', '10'));
    expect(names()).toEqual([]);
    inventory.sink(configMaps);
    inventory.put(configMaps, live('a', '10'));
    expect(names()).toEqual(['a']);
  });

  test('because a later list does not have it', () => {
    inventory.sink(configMaps).replace([live('b', '9')], '12');
    inventory.put(configMaps, live('a', '10'));
    expect(names()).toEqual(['b']);
    inventory.put(configMaps, live('a', '13'));
    expect(names()).toEqual(['b', 'a']);
  });
});

describe('a list', () => {
  const key = (name: string) => ({ namespace: 'n', name });
  const versionOf = (name: string) =>
    inventory.get(configMaps, key(name))?.object.metadata.resourceVersion;

  test('of a restored store counts, whatever was seen before', () => {
    const sink = inventory.sink(configMaps);
    sink.replace([live('a', '5'), live('gone', '6')], '6');
    inventory.put(configMaps, live('a', '100'));
    sink.upsert(live('made', '101'));
    sink.remove(live('gone', '102'));
    heard = [];
    sink.listing?.();
    sink.replace([live('a', '5'), live('gone', '6')], '60');
    expect(heard).toEqual(['-made', 'a@5', 'gone@6']);
    expect(versionOf('a')).toBe('5');
    sink.upsert(live('a', '61'));
    expect(versionOf('a')).toBe('61');
  });

  test('does not have what was answered since it was begun', () => {
    const sink = inventory.sink(configMaps);
    sink.replace([live('a', '5')], '5');
    sink.listing?.();
    inventory.put(configMaps, live('a', '11'));
    inventory.put(configMaps, live('b', '12'));
    sink.replace([live('a', '5')], '10');
    expect([versionOf('a'), versionOf('b')]).toEqual(['11', '12']);
  });

  test('that goes back in time makes nothing equal what was recorded before', () => {
    const sink = inventory.sink(configMaps);
    const projection = inventory.put(configMaps, live('a', '100')).projection;
    sink.listing?.();
    // An earlier version of core's object: the same fields, with other values.
    sink.replace([live('a', '5')], '60');
    const restored = inventory.get(configMaps, key('a'));
    expect(restored?.projection).not.toBe(projection);
    expect(inventory.put(configMaps, live('a', '61')).projection).toBe(restored?.projection);
  });
});

test('an object that changes its owner label changes its place', () => {
  const sink = inventory.sink(configMaps);
  sink.upsert(live('a', '1'));
  sink.upsert(live('a', '2', 'other'));
  expect(names()).toEqual([]);
  expect(names('other')).toEqual(['a']);
});

test('a kind that vanishes takes its objects with it', () => {
  inventory.sink(configMaps).upsert(live('a', '1'));
  inventory.dropKind(configMaps);
  expect(names()).toEqual([]);
  expect(heard).toEqual(['a@1', '-a']);
});

test('slimming does not make what an unnamed program sets RukPak’s', () => {
  const object = live('a', '1');
  const managedFields = [
    { manager: 'rukpak-core', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } },
    { manager: 'Go-http-client', operation: 'Update', fieldsV1: { 'f:data': { 'f:b': {} } } },
  ];
  const applied = { ...object, metadata: { ...object.metadata, managedFields } };
  const entry = inventory.put(configMaps, applied);
  slim(entry);
  expect(hasFormerFields(entry.object)).toBe(false);
  expect(otherManagers(entry.object)).toMatchObject([{ name: 'Go-http-client' }]);
});

test('slimming keeps what health and ownership read, and drops the content', () => {
  const object = { ...live('a', '1'), status: { x: 1 }, spec: { replicas: 2 } };
  const apps = { ...configMaps, group: 'apps' };
  const entry = inventory.put(configMaps, object);
  slim(entry);
  expect(entry.object).toMatchObject({
    metadata: object.metadata,
    status: { x: 1 },
    spec: { replicas: 2 },
  });
  expect(entry.object).not.toHaveProperty('data');
  expect(entry.object.metadata).not.toHaveProperty('managedFields');
  const definition = inventory.put(
    { ...apps, group: 'x' },
    { ...object, spec: { group: 'g', names: { kind: 'K' }, versions: [] } },
  );
  slim(definition);
  expect(definition.object['spec']).toEqual({ group: 'g', names: { kind: 'K' } });
});

test('an answer that gives an object to another owner is news to the one that had it', () => {
  inventory.sink(configMaps).replace([live('a', '1')], '1');
  inventory.put(configMaps, live('a', '2', 'other'));
  inventory.put(configMaps, live('a', '3', 'other'));
  expect(heard).toEqual(['a@1', 'a@2']);
});
