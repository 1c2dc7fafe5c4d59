import { isConflict, isNotFound } from '../kube/api-error.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { isKept } from './desired.ts';
import type { ApplyFailure } from './failures.ts';
import { forEachLimit } from './for-each-limit.ts';
import type { Inventory, InventoryEntry } from './inventory.ts';
import { inKindOrder } from './order.ts';
import { controllerOf, isDeployment } from './ownership.ts';

const concurrentDeletes = 8;

/**
 * What a deployment has and no longer wants. Only objects that it controls count: other
 * controllers copy labels to objects of their own. Kept objects stay.
 */
export function superfluous(
  inventory: Inventory,
  owner: string,
  wanted: ReadonlySet<string>,
): readonly InventoryEntry[] {
  const entries = inventory.ownedBy(owner).filter(({ id, object, deleted }) => {
    const controller = controllerOf(object);
    return (
      !wanted.has(id) &&
      !deleted &&
      !isKept(object) &&
      object.metadata.deletionTimestamp === undefined &&
      controller !== undefined &&
      isDeployment(controller, owner)
    );
  });
  // One object may be watched in two versions.
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

/** Deletes in the background, last kinds first; returns what the server refused to delete. */
export async function prune(
  entries: readonly InventoryEntry[],
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly ApplyFailure[]> {
  const failures: ApplyFailure[] = [];
  for (const group of inKindOrder(entries).toReversed()) {
    await forEachLimit(group, concurrentDeletes, async (entry) => {
      try {
        await deleteEntry(entry, client, signal);
        entry.deleted = true;
      } catch (error) {
        signal.throwIfAborted();
        failures.push({ object: entry, action: 'delete', error });
      }
    });
  }
  return failures;
}

async function deleteEntry(
  { resource, key, object }: InventoryEntry,
  client: KubeClient,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = object.metadata;
  const precondition = uid === undefined ? {} : { uid };
  try {
    await client.delete(resource, key, {
      propagationPolicy: 'Background',
      ...precondition,
      signal,
    });
  } catch (error) {
    // Gone already, or a namesake of somebody else's is there now.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
