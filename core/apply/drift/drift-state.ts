import { contentDigest } from '../fields/projection.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';

/** Stands for every state. */
export const anyState = '*';

/** The state of an object that drifted: another one is news. */
export function driftState(entry: InventoryEntry | undefined): string {
  return entry === undefined ? 'missing' : contentDigest(entry.object);
}
