import { otherManagers } from '../fields/other-managers.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { isNamespace } from '../objects/order.ts';
import { contentOfOthers, type NamespaceQuery } from './namespace-content.ts';
import type { RemovalPlan } from './removal-plan.ts';

export interface NamespacePlan extends RemovalPlan {
  /** Of `remove` the namespaces of which the API server does not tell what they hold: they wait. */
  readonly undecided: ReadonlyMap<InventoryEntry, Error>;
}

/** The plan without those namespaces that were not core's alone, or hold what is not to go. */
export async function leaveNamespaces(
  plan: RemovalPlan,
  query: NamespaceQuery,
): Promise<NamespacePlan> {
  const leave = new Map(plan.leave);
  const undecided = new Map<InventoryEntry, Error>();
  for (const entry of plan.remove.filter(({ resource }) => isNamespace(resource))) {
    try {
      const because = await reasonToStay(entry, query);
      if (because !== undefined) leave.set(entry, because);
    } catch (error) {
      query.signal.throwIfAborted();
      undecided.set(entry, error instanceof Error ? error : new Error(String(error)));
    }
  }
  return { leave, remove: plan.remove.filter((entry) => !leave.has(entry)), undecided };
}

/** @throws Error of the first of these objects that waits. */
export function throwUndecided(
  { undecided }: Pick<NamespacePlan, 'undecided'>,
  entries: readonly InventoryEntry[],
): void {
  for (const entry of entries) {
    const error = undecided.get(entry);
    if (error !== undefined) throw error;
  }
}

/**
 * Why a namespace that core made stays all the same. One that is going already cannot be held.
 * @throws Error where the API server does not tell what it holds.
 */
export async function reasonToStay(
  { id, key, object }: Pick<InventoryEntry, 'id' | 'key' | 'object'>,
  query: NamespaceQuery,
): Promise<string | undefined> {
  if (object.metadata.deletionTimestamp !== undefined) return undefined;
  const [user] = query.otherUsers(id);
  if (user !== undefined) return `BundleDeployment "${user}" has it in its bundle as well`;
  const [other] = otherManagers(object);
  if (other !== undefined) return `"${other.name}" has set fields of it as well`;
  return await contentOfOthers(key.name, query);
}
