import type { InventoryEntry } from '../inventory/entry.ts';
import type { ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import { isKept } from '../objects/desired.ts';
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
