import type { InventoryEntry } from '../inventory/inventory.ts';

/** Deletions that were confirmed and may not have succeeded yet, by owner. */
export class ConfirmedPrunes {
  readonly #byOwner = new Map<string, Set<string>>();

  has(owner: string, entry: InventoryEntry): boolean {
    return this.#byOwner.get(owner)?.has(keyOf(entry)) === true;
  }

  add(owner: string, entries: readonly InventoryEntry[]): void {
    this.#byOwner.set(owner, new Set(entries.map(keyOf)));
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner);
  }
}

/** One that was made again under the same name was not confirmed. */
function keyOf({ id, object }: InventoryEntry): string {
  return `${id}|${object.metadata.uid ?? ''}`;
}
