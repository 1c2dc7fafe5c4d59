import type { ObjectEvent } from '../../contracts/event-sink.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { isKept } from '../objects/desired.ts';
import { objectPath } from '../objects/object-id.ts';

/** Tells of an object that would have been deleted, had there been no reason to keep it. */
export function keptEvent({ resource, key, object }: InventoryEntry): ObjectEvent {
  const path = objectPath(resource.kind, key);
  const why = isKept(object) ? 'as its annotation asks' : 'with objects in it that stay';
  const message = `${path} is not deleted, ${why}: it is nobody's from now on`;
  return { type: 'Normal', reason: 'ObjectKept', message };
}
