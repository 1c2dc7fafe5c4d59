import { fieldAt, integerAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import { kindNames } from '../kinds/earlier-kinds.ts';
import { isKept } from '../objects/desired.ts';
import { type GroupKind, objectPath } from '../objects/object-id.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';

/**
 * Wakes owners whose objects are being removed: when all awaited objects are deleted, when the
 * object in the message changes, and when somebody annotates an object to be kept before it is
 * deleted, or deletes an object that waits to be pruned. Sends no requests.
 */
export class RemovalWatch implements ObjectEventListener {
  readonly #owners: OwnerStates;
  readonly #notify: (owner: string) => void;
  /** IDs of objects with a keep annotation that their owners know about. */
  readonly #kept = new Set<string>();

  constructor(owners: OwnerStates, notify: (owner: string) => void) {
    this.#owners = owners;
    this.#notify = notify;
  }

  hear({ type, entry }: ObjectEvent): void {
    if (type === 'changed') this.#changed(entry);
    if (type === 'removed') {
      this.#kept.delete(entry.id);
      for (const state of this.#owners.awaiting) this.#gone(state, entry.id);
      const waiting = this.#owners.find(entry.owner)?.waitingPrunes;
      if (waiting?.has(entry.id) === true) this.#notify(entry.owner);
    }
  }

  #changed(entry: InventoryEntry): void {
    // The object may belong to another owner now.
    for (const state of this.#owners.awaiting) {
      if (state.name !== entry.owner) this.#gone(state, entry.id);
    }
    const isShown = this.#owners.find(entry.owner)?.removal?.shown === entry.id;
    if (this.#isNewlyKept(entry) || isShown) this.#notify(entry.owner);
  }

  #gone({ name, removal }: OwnerState, id: string): void {
    if (removal?.ids.delete(id) !== true) return;
    if (removal.ids.size === 0 || removal.shown === id) this.#notify(name);
  }

  #isNewlyKept({ id, object }: InventoryEntry): boolean {
    if (!isKept(object)) {
      this.#kept.delete(id);
      return false;
    }
    const isNew = !this.#kept.has(id);
    this.#kept.add(id);
    return isNew;
  }
}

/**
 * Records the objects whose removal the owner waits for; returns the monotonic time of the first
 * wait.
 */
export function awaitRemoval(
  state: OwnerState,
  { ids, shown }: { readonly ids: Iterable<string>; readonly shown: string },
  now: number,
): number {
  const since = state.removal?.since ?? now;
  state.removal = { ids: new Set(ids), shown, since };
  return since;
}

/**
 * The object for the message: one that finalizers block, rather than one that is just being
 * deleted.
 */
export function shownEntry(entries: readonly InventoryEntry[]): InventoryEntry | undefined {
  return entries.find(({ object }) => finalizersOf(object).length > 0) ?? entries[0];
}

/**
 * The message of a pending deletion: the object, its finalizers, and when its deletion was
 * requested.
 */
export function waitingMessage(shown: InventoryEntry, count: number): string {
  const { resource, key, object } = shown;
  const finalizers = finalizersOf(object);
  const since = deletedSince(object);
  const more = count === 1 ? '' : ` and ${count - 1} more`;
  const held =
    finalizers.length === 0 ? '' : `, blocked by its finalizers ${finalizers.join(', ')}`;
  return (
    `Waiting for ${objectPath(resource.kind, key)}${more} to be deleted` +
    `${since === undefined ? '' : ` (deletion requested at ${since})`}${held}` +
    namespaceDetails(object)
  );
}

/** A namespace has its own finalizers, and its conditions list the remaining content. */
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

/** deletionTimestamp is the end of the grace period, not its start. */
function deletedSince({ metadata }: KubernetesObject): string | undefined {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  const grace = integerAt(metadata, 'deletionGracePeriodSeconds') ?? 0;
  const since = new Date(Date.parse(deletionTimestamp) - grace * 1000);
  return since.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/**
 * Objects of a kind that is not served can be neither seen nor deleted, so core must assume that some
 * exist.
 */
export function unservedMessage(kinds: readonly GroupKind[]): string {
  return (
    `Waiting for the API server to serve ${kindNames(kinds)}: objects of it may still exist. ` +
    'Repair its CustomResourceDefinition or APIService, or delete it'
  );
}
