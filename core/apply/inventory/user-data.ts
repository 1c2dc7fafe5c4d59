import { otherManagers } from '../fields/managed-fields.ts';
import type { GroupKind } from '../objects/object-id.ts';
import type { InventoryEntry } from './entry.ts';

/** Kinds, with their groups, whose data no bundle can restore. */
const dataKinds: ReadonlySet<string> = new Set([
  '/PersistentVolumeClaim',
  '/PersistentVolume',
  'apps/StatefulSet',
  '/Namespace',
  'apiextensions.k8s.io/CustomResourceDefinition',
]);

/**
 * True for objects that may hold data of users: by their kind, or a Secret that others wrote to.
 */
export function isData({ resource, object }: Pick<InventoryEntry, 'resource' | 'object'>): boolean {
  const { group, kind } = resource;
  if (group === '' && kind === 'Secret') return otherManagers(object).length > 0;
  return isDataKind(resource);
}

/** True for kinds of which every object may hold data of users. */
export function isDataKind({ group, kind }: GroupKind): boolean {
  return dataKinds.has(`${group}/${kind}`);
}
