import { beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { Inventory } from '../inventory/inventory.ts';
import { GivenObjects } from './given-objects.ts';

const desired = aDesiredObject({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n' },
});

let inventory: Inventory;
let given: GivenObjects;
let woken: string[];
let version: number;

beforeEach(() => {
  inventory = new Inventory();
  woken = [];
  version = 1;
  const next = { changed: () => undefined, removed: () => undefined };
  given = new GivenObjects({ inventory, notify: (owner) => woken.push(owner), next });
  inventory.listen(given);
});

function of(owner: string): KubernetesObject {
  version += 1;
  const labels = { ...desired.object.metadata.labels, 'core.rukpak.io/owner-name': owner };
  return {
    ...desired.object,
    metadata: { ...desired.object.metadata, labels, resourceVersion: `${version}` },
  };
}

function seen(owner: string): void {
  inventory.sink(desired.resource).upsert(of(owner));
}

function aGiver(handOver: string) {
  const annotations = { 'core.rukpak.io/hand-over': handOver };
  return aStoredDeployment({ metadata: { name: 'demo', annotations } });
}

test('what the taker has is given, and nothing else', () => {
  expect(given.find(aGiver('taker'), [desired]).size).toBe(0);
  seen('demo');
  expect(given.find(aGiver('taker'), [desired]).size).toBe(0);
  seen('taker');
  expect([...given.find(aGiver('x, taker'), [desired])]).toEqual([desired]);
  expect(given.find(aGiver('x'), [desired]).size).toBe(0);
  expect(given.find(aStoredDeployment(), [desired]).size).toBe(0);
});

test('the giver is woken when the object is gone or goes to another one, not before', () => {
  seen('taker');
  given.keep('demo', given.find(aGiver('taker'), [desired]));
  seen('taker');
  expect(woken).toEqual([]);
  seen('third');
  expect(woken).toEqual(['demo']);
  inventory.sink(desired.resource).remove(of('third'));
  expect(woken).toEqual(['demo', 'demo']);
});

test('the giver is woken when the taker makes the object nobody’s', () => {
  seen('taker');
  given.keep('demo', given.find(aGiver('taker'), [desired]));
  given.left(desired);
  expect(woken).toEqual(['demo']);
});

test('the giver is not woken for what it no longer has in its bundle', () => {
  seen('taker');
  given.keep('demo', given.find(aGiver('taker'), [desired]));
  given.keep('demo', new Set());
  inventory.sink(desired.resource).remove(of('taker'));
  expect(woken).toEqual([]);
});
