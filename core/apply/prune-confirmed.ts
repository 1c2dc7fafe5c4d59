import type { InventoryEntry } from './inventory.ts';

/** Deletions that were confirmed and may not have succeeded yet, by owner. */
export class ConfirmedPrunes {
  readonly #byOwner = new Map<string, Set<string>>();

  has(owner: string, id: string): boolean {
    return this.#byOwner.get(owner)?.has(id) === true;
  }

  add(owner: string, entries: readonly InventoryEntry[]): void {
    this.#byOwner.set(owner, new Set(entries.map(({ id }) => id)));
  }

  forget(owner: string): void {
    this.#byOwner.delete(owner);
  }
}
