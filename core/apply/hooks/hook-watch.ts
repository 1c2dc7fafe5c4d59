import type { InventoryEntry, InventoryListener } from '../inventory.ts';
import { hookOutcome } from './hook-outcome.ts';

export interface HookWatchOptions {
  readonly notify: (owner: string) => void;
  /** Hears everything as well, after this one. */
  readonly next: InventoryListener;
}

/** Wakes owners that wait for a hook: when it has ended one way or the other, and when it is gone. */
export class HookWatch implements InventoryListener {
  readonly #options: HookWatchOptions;
  /** By ID of the object. */
  readonly #awaitedBy = new Map<string, string>();
  readonly #awaited = new Map<string, string>();

  constructor(options: HookWatchOptions) {
    this.#options = options;
  }

  /** In place of whatever the owner waited for before. */
  waitFor(owner: string, id: string): void {
    this.forget(owner);
    this.#awaitedBy.set(id, owner);
    this.#awaited.set(owner, id);
  }

  forget(owner: string): void {
    this.#awaitedBy.delete(this.#awaited.get(owner) ?? '');
    this.#awaited.delete(owner);
  }

  changed(entry: InventoryEntry): void {
    if (hookOutcome(entry.object).state !== 'running') this.#wake(entry);
    this.#options.next.changed(entry);
  }

  removed(entry: InventoryEntry): void {
    this.#wake(entry);
    this.#options.next.removed(entry);
  }

  #wake({ id }: InventoryEntry): void {
    const owner = this.#awaitedBy.get(id);
    if (owner !== undefined) this.#options.notify(owner);
  }
}
