import { beforeEach, expect, test } from 'vitest';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { Inventory } from '../inventory/inventory.ts';
import { planRemoval } from '../removal/removal-plan.ts';

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

test('what a hook has made is not pruned', () => {
  const wanted = { ids: new Set<string>(), objects: [], omitted: [] };
  const plan = planRemoval(inventory, { owner, policy: 'Delete', wanted });
  expect(names(plan.remove)).toEqual(['kept']);
  expect(plan.leave.size).toBe(0);
});

test('what a hook has made is left to the garbage collector when its deployment is deleted', () => {
  const plan = planRemoval(inventory, { owner, policy: 'Delete' });
  expect(names(plan.remove)).toEqual(['kept']);
  expect(plan.leave.size).toBe(0);
});

test('what a hook has made stays where everything is to stay', () => {
  const plan = planRemoval(inventory, { owner, policy: 'Orphan' });
  expect(names([...plan.leave.keys()])).toEqual(['hook', 'kept']);
});
