import type { InventoryEntry, InventoryListener } from '../inventory/inventory.ts';
import { isKept } from '../objects/desired.ts';

/** What the removal of a deployment's objects waits for. */
export interface AwaitedObjects {
  readonly ids: Iterable<string>;
  /** The one that people are told of. */
  readonly shown: string;
}

interface Waiting {
  readonly ids: Set<string>;
  readonly shown: string;
  readonly since: number;
}

export interface RemovalWatchOptions {
  readonly notify: (owner: string) => void;
  /** Hears everything as well, after this one. */
  readonly next: InventoryListener;
}

/**
 * Wakes owners whose objects are being removed: when all that are waited for are gone, and when there
 * is news of the one that people are told of. Nothing is asked of the API server for that. Wakes those
 * too of whose objects one is annotated to be kept, before they are deleted.
 */
export class RemovalWatch implements InventoryListener {
  readonly #options: RemovalWatchOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** Who waits for an object: by the time it goes it may be another owner's. */
  readonly #awaitedBy = new Map<string, string>();
  /** IDs of objects that are annotated to be kept, whose owners know. */
  readonly #kept = new Set<string>();

  constructor(options: RemovalWatchOptions) {
    this.#options = options;
  }

  /** Since when, as the clock has it, the owner waits for one thing after the other. */
  waitFor(owner: string, { ids, shown }: AwaitedObjects, now: number): number {
    const since = this.#waiting.get(owner)?.since ?? now;
    this.forget(owner);
    const awaited = new Set(ids);
    this.#waiting.set(owner, { ids: awaited, shown, since });
    for (const id of awaited) this.#awaitedBy.set(id, owner);
    return since;
  }

  forget(owner: string): void {
    for (const id of this.#waiting.get(owner)?.ids ?? []) this.#awaitedBy.delete(id);
    this.#waiting.delete(owner);
  }

  changed(entry: InventoryEntry): void {
    if (this.#awaitedBy.get(entry.id) !== entry.owner) this.#gone(entry.id);
    const isShown = this.#waiting.get(entry.owner)?.shown === entry.id;
    if (this.#isNewlyKept(entry) || isShown) this.#options.notify(entry.owner);
    this.#options.next.changed(entry);
  }

  removed(entry: InventoryEntry): void {
    this.#kept.delete(entry.id);
    this.#gone(entry.id);
    this.#options.next.removed(entry);
  }

  #gone(id: string): void {
    const owner = this.#awaitedBy.get(id) ?? '';
    const waiting = this.#waiting.get(owner);
    if (waiting === undefined) return;
    this.#awaitedBy.delete(id);
    waiting.ids.delete(id);
    if (waiting.ids.size === 0 || waiting.shown === id) this.#options.notify(owner);
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
