import { otherManagers } from '../fields/other-managers.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';

/** Kinds, with their groups, that hold what no bundle can bring back. */
const dataKinds: ReadonlySet<string> = new Set([
  '/PersistentVolumeClaim',
  '/PersistentVolume',
  'apps/StatefulSet',
  '/Namespace',
  'apiextensions.k8s.io/CustomResourceDefinition',
]);

/** True for what may hold data of users: its kind does, or it is a Secret that others wrote to. */
export function isData({ resource: { group, kind }, object }: InventoryEntry): boolean {
  if (group === '' && kind === 'Secret') return otherManagers(object).length > 0;
  return dataKinds.has(`${group}/${kind}`);
}
