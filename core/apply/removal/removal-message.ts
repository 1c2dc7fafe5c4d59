import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldAt, integerAt, listOf, stringAt } from '../fields/json-fields.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { objectPath } from '../objects/object-id.ts';

/** The object to tell people of: one that something holds up, rather than one that just goes. */
export function shownEntry(entries: readonly InventoryEntry[]): InventoryEntry | undefined {
  return entries.find(({ object }) => finalizersOf(object).length > 0) ?? entries[0];
}

/** Says what the deletion waits for: the object, its finalizers, and since when it is being deleted. */
export function waitingMessage(shown: InventoryEntry, count: number): string {
  const { resource, key, object } = shown;
  const finalizers = finalizersOf(object);
  const since = deletedSince(object);
  const more = count === 1 ? '' : ` and ${count - 1} more`;
  const held = finalizers.length === 0 ? '' : `, held by its finalizers ${finalizers.join(', ')}`;
  return (
    `deletion waits for ${objectPath(resource.kind, key)}${more} to go` +
    `${since === undefined ? '' : `: it is being deleted since ${since}`}${held}` +
    namespaceDetails(object)
  );
}

/** A namespace has finalizers of its own, and says itself what is left in it. */
function namespaceDetails(object: KubernetesObject): string {
  const details = listOf(fieldAt(object['status'], 'conditions'))
    .filter((condition) => stringAt(condition, 'status') === 'True')
    .filter((condition) => stringAt(condition, 'type')?.startsWith('Namespace') === true)
    .flatMap((condition) => stringAt(condition, 'message') ?? []);
  return details.length === 0 ? '' : `. ${details.join('; ')}`;
}

function finalizersOf({ metadata }: KubernetesObject): readonly string[] {
  return metadata.finalizers ?? [];
}

/** deletionTimestamp is when its time to end in peace is over. */
function deletedSince({ metadata }: KubernetesObject): string | undefined {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  const grace = integerAt(metadata, 'deletionGracePeriodSeconds') ?? 0;
  const since = new Date(Date.parse(deletionTimestamp) - grace * 1000);
  return since.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
