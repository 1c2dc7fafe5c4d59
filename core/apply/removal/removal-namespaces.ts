import { otherManagers } from '../fields/other-managers.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { isNamespace } from '../objects/order.ts';
import { contentOfOthers, type NamespaceQuery } from './namespace-content.ts';
import type { RemovalPlan } from './removal-plan.ts';

/**
 * The plan without those namespaces that were not core's alone, or hold what is not to go.
 * @throws Error where the API server does not tell what one holds.
 */
export async function leaveNamespaces(
  plan: RemovalPlan,
  query: NamespaceQuery,
): Promise<RemovalPlan> {
  const namespaces = plan.remove.filter(({ resource }) => isNamespace(resource));
  if (namespaces.length === 0) return plan;
  const leave = new Map(plan.leave);
  for (const entry of namespaces) {
    const because = await reasonToStay(entry, query);
    if (because !== undefined) leave.set(entry, because);
  }
  return { leave, remove: plan.remove.filter((entry) => !leave.has(entry)) };
}

/** One that is going already cannot be held. */
async function reasonToStay(
  { key, object }: InventoryEntry,
  query: NamespaceQuery,
): Promise<string | undefined> {
  if (object.metadata.deletionTimestamp !== undefined) return undefined;
  const [other] = otherManagers(object);
  if (other !== undefined) return `"${other.name}" has set fields of it as well`;
  return await contentOfOthers(key.name, query);
}
