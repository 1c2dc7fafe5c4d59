import type { Clock } from '../../platform/clock.ts';
import type { AppliedRecord } from './applied-record.ts';
import { type ObjectIndex, OwnerState } from './owner-state.ts';

/** What the process remembers of deployments, by name. */
export class OwnerStates implements Iterable<OwnerState> {
  readonly #byName = new Map<string, OwnerState>();
  readonly #index: ObjectIndex = { records: new Map(), holders: new Map(), awaiting: new Set() };
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(name: string): OwnerState {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const state = new OwnerState(name, this.#clock, this.#index);
    this.#byName.set(name, state);
    return state;
  }

  /** Undefined when nothing is remembered of it yet. */
  find(name: string): OwnerState | undefined {
    return this.#byName.get(name);
  }

  /** The record of an object, of any owner. */
  recordOf(id: string): AppliedRecord | undefined {
    return this.#index.records.get(id);
  }

  /** Claims and records that other deployments have of its objects stay. */
  forget(name: string): void {
    this.#byName.get(name)?.end();
    this.#byName.delete(name);
  }

  /** Owners that an event of any object may concern; few, so that each event is cheap. */
  get awaiting(): ReadonlySet<OwnerState> {
    return this.#index.awaiting;
  }

  [Symbol.iterator](): IterableIterator<OwnerState> {
    return this.#byName.values();
  }
}
