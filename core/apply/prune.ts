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
  return controlled(inventory, owner).filter(
    ({ id, object }) => !wanted.has(id) && !isKept(object),
  );
}

/** Objects that are annotated to be kept, and that the garbage collector would take all the same. */
export function keptByAnnotation(inventory: Inventory, owner: string): readonly InventoryEntry[] {
  return controlled(inventory, owner).filter(({ object }) => isKept(object));
}

function controlled(inventory: Inventory, owner: string): readonly InventoryEntry[] {
  const entries = inventory.ownedBy(owner).filter(({ object, deleted }) => {
    const controller = controllerOf(object);
    return (
      !deleted &&
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
  return await deleteObjects(entries, { client, signal });
}

export interface DeleteContext {
  readonly client: Pick<KubeClient, 'delete'>;
  /** Waits for what an object has made as well, before it is gone; Background where absent. */
  readonly propagation?: (entry: InventoryEntry) => 'Background' | 'Foreground';
  readonly signal: AbortSignal;
}

/** Deletes objects, last kinds first; returns what the server refused to delete. */
export async function deleteObjects(
  entries: readonly InventoryEntry[],
  context: DeleteContext,
): Promise<readonly ApplyFailure[]> {
  const failures: ApplyFailure[] = [];
  for (const group of inKindOrder(entries).toReversed()) {
    await forEachLimit(group, concurrentDeletes, async (entry) => {
      try {
        await deleteEntry(entry, context);
        entry.deleted = true;
      } catch (error) {
        context.signal.throwIfAborted();
        failures.push({ object: entry, action: 'delete', error });
      }
    });
  }
  return failures;
}

async function deleteEntry(entry: InventoryEntry, context: DeleteContext): Promise<void> {
  const { resource, key, object } = entry;
  const { client, propagation, signal } = context;
  const { uid } = object.metadata;
  const precondition = uid === undefined ? {} : { uid };
  const propagationPolicy = propagation?.(entry) ?? 'Background';
  try {
    await client.delete(resource, key, { propagationPolicy, ...precondition, signal });
  } catch (error) {
    // Gone already, or a namesake of somebody else's is there now.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
