import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import {
  type CustomResourceQuery,
  definedKind,
  hasCustomResources,
} from '../kinds/custom-resources.ts';
import { isDefinition } from '../objects/order.ts';
import type { RemovalPlan } from './removal-plan.ts';

/**
 * With policy KeepCRDs, the plan with those namespaces left that have custom resources of the
 * CRDs: these would go with their namespace.
 */
export async function leaveNamespaces(
  plan: RemovalPlan,
  policy: DeletionPolicy,
  query: Omit<CustomResourceQuery, 'namespace' | 'except'>,
): Promise<RemovalPlan> {
  if (policy !== 'KeepCRDs') return plan;
  const definitions = plan.leave.filter(({ resource }) => isDefinition(resource));
  const kept = new Set<InventoryEntry>();
  for (const entry of plan.remove.filter(isNamespace)) {
    for (const definition of definitions) {
      const wanted = { ...query, namespace: entry.key.name };
      if (!(await hasCustomResources(definedKind(definition), wanted))) continue;
      kept.add(entry);
      break;
    }
  }
  return {
    leave: [...plan.leave, ...kept],
    remove: plan.remove.filter((entry) => !kept.has(entry)),
  };
}

export function isNamespace({ resource: { group, kind } }: InventoryEntry): boolean {
  return group === '' && kind === 'Namespace';
}
