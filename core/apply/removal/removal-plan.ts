import type { RemoveRequest } from '../../contracts/applier.ts';
import { isHookObject } from '../hooks/hook.ts';
import type { Inventory, InventoryEntry } from '../inventory/inventory.ts';
import { definedKind } from '../kinds/custom-resources.ts';
import { isKept } from '../objects/desired.ts';
import type { GroupKind } from '../objects/group-kind.ts';
import { isDefinition } from '../objects/order.ts';
import { belongsTo } from '../ownership/belonging.ts';
import { controllerOf } from '../ownership/ownership.ts';
import { stageOf } from '../stages/stage-of.ts';

/** What becomes of the objects of a deployment that is deleted. */
export interface RemovalPlan {
  /** They stay, and are nobody's from then on. */
  readonly leave: readonly InventoryEntry[];
  readonly remove: readonly InventoryEntry[];
}

/**
 * Goes by the policy. Kept objects stay whatever it says: those that are without our
 * reference anyway stay as they are, until all objects are left. What hooks made, some of it just
 * now, is the garbage collector's, unless all is left.
 */
export function planRemoval(
  inventory: Inventory,
  { owner: { metadata }, policy }: Pick<RemoveRequest, 'owner' | 'policy'>,
): RemovalPlan {
  const { name = '' } = metadata;
  const entries = objectsOf(inventory, name);
  if (policy === 'Orphan') return { leave: entries, remove: [] };
  const staying = policy === 'KeepCRDs' ? ofDefinitions(entries) : new Set<string>();
  const going = entries.filter(({ object }) => belongsTo(object, name));
  const stays = ({ id, object }: InventoryEntry): boolean =>
    staying.has(id) || isKept(object) || isHookObject(object);
  return {
    leave: entries.filter(
      (entry) => staying.has(entry.id) || (isKept(entry.object) && belongsTo(entry.object, name)),
    ),
    remove: going.filter((entry) => !stays(entry)),
  };
}

/**
 * The objects of a deployment, each once: it may be watched in two versions. Other controllers copy
 * labels to objects of their own; those do not count.
 */
export function objectsOf(inventory: Inventory, owner: string): readonly InventoryEntry[] {
  const entries = inventory
    .ownedBy(owner)
    .filter(
      (entry) =>
        belongsTo(entry.object, owner) ||
        (controllerOf(entry.object) === undefined && isKept(entry.object)),
    );
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

/** Objects whose removal comes one stage after the other, the last stage first. */
export function removalStages(entries: readonly InventoryEntry[]): readonly InventoryEntry[][] {
  return [...Map.groupBy(entries, (entry) => stageOf(entry))]
    .toSorted(([a], [b]) => b - a)
    .map(([, stage]) => stage);
}

/** IDs of the CRDs among these objects, and of their custom resources. */
function ofDefinitions(entries: readonly InventoryEntry[]): ReadonlySet<string> {
  const definitions = entries.filter(({ resource }) => isDefinition(resource));
  const kinds = new Set(definitions.map((entry) => kindName(definedKind(entry))));
  const resources = entries.filter(({ resource }) => kinds.has(kindName(resource)));
  return new Set([...definitions, ...resources].map(({ id }) => id));
}

function kindName({ group, kind }: GroupKind): string {
  return `${kind}.${group}`;
}
