import type { InventoryEntry, InventoryListener } from './inventory.ts';

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
 * is news of the one that people are told of. Nothing is asked of the API server for that.
 */
export class RemovalWatch implements InventoryListener {
  readonly #options: RemovalWatchOptions;
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: RemovalWatchOptions) {
    this.#options = options;
  }

  /** Since when, as the clock has it, the owner waits for one thing after the other. */
  waitFor(owner: string, { ids, shown }: AwaitedObjects, now: number): number {
    const since = this.#waiting.get(owner)?.since ?? now;
    this.#waiting.set(owner, { ids: new Set(ids), shown, since });
    return since;
  }

  forget(owner: string): void {
    this.#waiting.delete(owner);
  }

  changed(entry: InventoryEntry): void {
    if (this.#waiting.get(entry.owner)?.shown === entry.id) this.#options.notify(entry.owner);
    this.#options.next.changed(entry);
  }

  removed(entry: InventoryEntry): void {
    const waiting = this.#waiting.get(entry.owner);
    if (waiting?.ids.delete(entry.id) === true) {
      if (waiting.ids.size === 0 || waiting.shown === entry.id) this.#options.notify(entry.owner);
    }
    this.#options.next.removed(entry);
  }
}
