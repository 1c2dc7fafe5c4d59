import type { ObjectEvent } from '../contracts/event-sink.ts';
import type { InventoryEntry } from './inventory.ts';
import { objectPath } from './object-id.ts';

/** Tells of an object that would have been deleted, had its annotation not asked to keep it. */
export function keptEvent({ resource, key }: InventoryEntry): ObjectEvent {
  const path = objectPath(resource.kind, key);
  const message = `${path} is not deleted, as its annotation asks: it is nobody's from now on`;
  return { type: 'Normal', reason: 'ObjectKept', message };
}
