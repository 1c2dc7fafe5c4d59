import type { KubernetesObject } from '../../../api/meta.ts';
import { isConflict, isObjectNotFound } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/kube-client.ts';
import { liveObject } from '../../kube/live-object.ts';
import { isHookObject } from '../hooks/hook.ts';
import type { Inventory, InventoryEntry } from '../inventory/inventory.ts';
import { type DesiredObject, isKept } from '../objects/desired.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { inKindOrder } from '../objects/order.ts';
import { belongsTo } from '../ownership/belonging.ts';
import { controllerOf, labelledOwner } from '../ownership/ownership.ts';
import { isNamespace } from '../removal/removal-namespaces.ts';

const concurrentDeletes = 8;
const attempts = 5;

/** What a deployment is to have. */
export interface Wanted {
  readonly ids: ReadonlySet<string>;
  readonly objects: readonly Pick<DesiredObject, 'key'>[];
}

/**
 * What a deployment has and no longer wants. Only objects that it controls count: other
 * controllers copy labels to objects of their own. Kept objects stay, what hooks made, and
 * namespaces in which there are objects that it wants.
 */
export function superfluous(
  inventory: Inventory,
  owner: string,
  wanted: Wanted,
): readonly InventoryEntry[] {
  return controlled(inventory, owner).filter(
    (entry) =>
      !wanted.ids.has(entry.id) &&
      !isKept(entry.object) &&
      !isHookObject(entry.object) &&
      !isInhabited(entry, wanted),
  );
}

/** Namespaces that a deployment no longer wants itself, while objects that it wants are in them. */
export function inhabitedNamespaces(
  inventory: Inventory,
  owner: string,
  wanted: Wanted,
): readonly InventoryEntry[] {
  return controlled(inventory, owner).filter(
    (entry) => !wanted.ids.has(entry.id) && !isKept(entry.object) && isInhabited(entry, wanted),
  );
}

function isInhabited(entry: InventoryEntry, { objects }: Wanted): boolean {
  return isNamespace(entry) && objects.some(({ key }) => key.namespace === entry.key.name);
}

/** Objects that are annotated to be kept, and that the garbage collector would take all the same. */
export function keptByAnnotation(inventory: Inventory, owner: string): readonly InventoryEntry[] {
  return controlled(inventory, owner).filter(({ object }) => isKept(object));
}

/** Objects that go with their deployment, and that the garbage collector does not find. */
export function unreferenced(inventory: Inventory, owner: string): readonly InventoryEntry[] {
  return controlled(inventory, owner).filter(({ object }) => controllerOf(object) === undefined);
}

function controlled(inventory: Inventory, owner: string): readonly InventoryEntry[] {
  const entries = inventory
    .ownedBy(owner)
    .filter(
      ({ object, deleted }) =>
        !deleted && object.metadata.deletionTimestamp === undefined && belongsTo(object, owner),
    );
  // One object may be watched in two versions.
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

/** Deletes in the background, last kinds first; returns what the server refused to delete. */
export async function prune(
  entries: readonly InventoryEntry[],
  client: DeleteContext['client'],
  signal: AbortSignal,
): Promise<readonly ApplyFailure[]> {
  return await deleteObjects(entries, { client, signal });
}

export interface DeleteContext {
  readonly client: Pick<KubeClient, 'get' | 'delete'>;
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

/**
 * Deletes exactly the version that is known, and a newer one only where it is still the same object
 * of the same deployment: another one may have taken it meanwhile.
 */
async function deleteEntry(entry: InventoryEntry, context: DeleteContext): Promise<void> {
  const { resource, key, object } = entry;
  const { client, propagation, signal } = context;
  const propagationPolicy = propagation?.(entry) ?? 'Background';
  let found: KubernetesObject | undefined = object;
  for (let attempt = 1; found !== undefined; attempt += 1) {
    try {
      const precondition = preconditionOf(found);
      await client.delete(resource, key, { propagationPolicy, ...precondition, signal });
      return;
    } catch (error) {
      if (isObjectNotFound(error)) return;
      if (!isConflict(error) || attempt === attempts) throw error;
      found = await sameObject(entry, context);
    }
  }
}

function preconditionOf({ metadata }: KubernetesObject): {
  uid?: string;
  resourceVersion?: string;
} {
  const { uid, resourceVersion } = metadata;
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
}

/** As it is now; undefined where it is gone, a namesake, another deployment's, or to be kept. */
async function sameObject(
  { resource, key, object, owner }: InventoryEntry,
  { client, signal }: DeleteContext,
): Promise<KubernetesObject | undefined> {
  const live = await liveObject(client, { resource, key }, signal);
  if (live === undefined || live.metadata.uid !== object.metadata.uid) return undefined;
  // Somebody may have annotated it to be kept since it was seen.
  if (isKept(live) && !isKept(object)) return undefined;
  return labelledOwner(live) === owner && belongsTo(live, owner) ? live : undefined;
}
