import type { InventoryEntry, InventoryListener } from '../inventory/inventory.ts';
import { hookRunOf } from './hook.ts';
import { type HookOutcome, hookOutcome } from './hook-outcome.ts';

export interface HookWatchOptions {
  readonly notify: (owner: string) => void;
  /** Hears everything as well, after this one. */
  readonly next: InventoryListener;
}

interface Awaited {
  readonly id: string;
  readonly run: string;
  /** How it ended; its object may be gone by the time anybody asks. */
  ended?: Ended;
  /** The owner knows. */
  told?: boolean;
}

type Ended = Exclude<HookOutcome, { readonly state: 'running' }>;

/** Wakes owners that wait for a hook: when it has ended one way or the other, and when it is gone. */
export class HookWatch implements InventoryListener {
  readonly #options: HookWatchOptions;
  /** By owner: of each one hook at a time. */
  readonly #awaited = new Map<string, Awaited>();

  constructor(options: HookWatchOptions) {
    this.#options = options;
  }

  /** In place of whatever the owner waited for before; returns how that run has ended meanwhile. */
  waitFor(owner: string, id: string, run: string): Ended | undefined {
    const known = this.#awaited.get(owner);
    if (known?.id === id && known.run === run) return known.ended;
    this.#awaited.set(owner, { id, run });
    return undefined;
  }

  /** The owner knows how it has ended: what becomes of the object now is no news. */
  end(owner: string, ended: Ended): void {
    const awaited = this.#awaited.get(owner);
    if (awaited !== undefined) this.#awaited.set(owner, { ...awaited, ended, told: true });
  }

  forget(owner: string): void {
    this.#awaited.delete(owner);
  }

  changed(entry: InventoryEntry): void {
    this.#look(entry);
    this.#options.next.changed(entry);
  }

  removed(entry: InventoryEntry): void {
    for (const [owner, { id, told }] of this.#awaited) {
      if (id === entry.id && told !== true) this.#options.notify(owner);
    }
    this.#options.next.removed(entry);
  }

  #look({ id, owner, object }: InventoryEntry): void {
    const awaited = this.#awaited.get(owner);
    if (awaited?.id !== id || awaited.told === true) return;
    const outcome = hookOutcome(object);
    if (outcome.state === 'running') return;
    if (hookRunOf(object) === awaited.run) awaited.ended = outcome;
    this.#options.notify(owner);
  }
}
