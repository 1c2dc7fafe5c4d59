import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { Blocked } from '../../contracts/applier.ts';
import { shortList } from '../../short-list.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { objectPath } from '../objects/object-id.ts';
import type { PruneResult } from './pruner.ts';

const namedObjects = 5;

/**
 * The result where a set stands in for another one: nobody has asked to delete what it lacks, and the
 * other one may have it.
 */
export function spared(held: readonly InventoryEntry[]): PruneResult {
  return { changes: 0, held, blocked: held.length === 0 ? undefined : because(held) };
}

function because(held: readonly InventoryEntry[]): Blocked {
  const objects = held.map(({ resource, key }) => objectPath(resource.kind, key));
  return {
    reason: progressReason.pruneHeld,
    message: `not deleted: ${shortList(objects, namedObjects)}: core only keeps the active Bundle in place, and decides about them when it can roll out the present spec`,
  };
}
