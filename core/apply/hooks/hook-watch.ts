import type { InventoryEntry, ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import type { HookEnd, OwnerState, OwnerStates } from '../state/owner-state.ts';
import { hookRunOf } from './hook.ts';
import { hookOutcome } from './hook-outcome.ts';

/** Wakes owners that wait for a hook: when it has ended one way or the other, and when it is gone. */
export class HookWatch implements ObjectEventListener {
  readonly #owners: OwnerStates;
  readonly #notify: (owner: string) => void;

  constructor(owners: OwnerStates, notify: (owner: string) => void) {
    this.#owners = owners;
    this.#notify = notify;
  }

  hear({ type, entry }: ObjectEvent): void {
    if (type === 'changed') this.#changed(entry);
    if (type !== 'removed') return;
    for (const { name, hook } of this.#owners) {
      if (hook?.id === entry.id && hook.told !== true) this.#notify(name);
    }
  }

  #changed({ id, owner, object }: InventoryEntry): void {
    const hook = this.#owners.find(owner)?.hook;
    if (hook?.id !== id || hook.told === true) return;
    const outcome = hookOutcome(object);
    if (outcome.state === 'running') return;
    if (hookRunOf(object) === hook.run) hook.ended = outcome;
    this.#notify(owner);
  }
}

/** In place of whatever the owner waited for before; returns how that run has ended meanwhile. */
export function awaitHook(state: OwnerState, id: string, run: string): HookEnd | undefined {
  const { hook } = state;
  if (hook?.id === id && hook.run === run) return hook.ended;
  state.hook = { id, run };
  return undefined;
}

/** The owner knows how its hook has ended: what becomes of the object now is no news. */
export function noteHookEnd(state: OwnerState, ended: HookEnd): void {
  if (state.hook !== undefined) state.hook = { ...state.hook, ended, told: true };
}
