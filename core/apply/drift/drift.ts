import type { ObjectNews } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import { objectHealth } from '../health/object-health.ts';
import type { HealthRules } from '../health/rules/health-rules.ts';
import type { AppliedRecord, AppliedRecords } from '../inventory/applied-records.ts';
import {
  type Inventory,
  type InventoryEntry,
  type InventoryListener,
  projectionUnder,
  slim,
} from '../inventory/inventory.ts';
import { isNewer } from '../objects/object-id.ts';
import { anyState, driftState } from './drift-state.ts';
import type { FinishedObjects } from './finished-objects.ts';
import type { RepairBackoff } from './repair-backoff.ts';

export interface DriftDetectorOptions {
  readonly inventory: Inventory;
  readonly records: AppliedRecords;
  readonly backoff: RepairBackoff;
  readonly rules: HealthRules;
  readonly finished: FinishedObjects;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with an owner whose objects need a look. */
  readonly notify: (owner: string, news?: ObjectNews) => void;
}

/**
 * Compares what the watches see with what was applied: calls `notify` when an object was deleted
 * or changed by others, or its health is another. Our own writes and changes of status that leave
 * the health as it was are silent.
 */
export class DriftDetector implements InventoryListener {
  readonly #options: DriftDetectorOptions;
  /**
   * Objects with a request of ours under way: the answer decides, not an event that overtook it.
   * With what the watch has seen go meanwhile.
   */
  readonly #inFlight = new Map<string, InventoryEntry | undefined>();
  readonly #timers = new Map<string, AbortController>();

  constructor(options: DriftDetectorOptions) {
    this.#options = options;
  }

  changed(entry: InventoryEntry): void {
    this.#review(entry.id);
  }

  removed(entry: InventoryEntry): void {
    if (this.#inFlight.has(entry.id)) this.#inFlight.set(entry.id, entry);
    const record = this.#options.records.get(entry.id);
    // What has ended in its last moment is told of with its end.
    if (record !== undefined && this.noteFinished(record, entry)) {
      this.#options.notify(entry.owner);
    }
    this.#review(entry.id);
  }

  /** Takes note of an object that has ended by itself; true where that is news. */
  noteFinished(record: AppliedRecord, entry: InventoryEntry | undefined): boolean {
    if (entry?.owner !== record.owner) return false;
    return this.#options.finished.note(record, entry.object);
  }

  /** True where the live object is no longer what was applied. */
  hasDrifted(record: AppliedRecord): boolean {
    const { inventory, finished } = this.#options;
    const entry = inventory.get(record.resource, record.key);
    if (entry === undefined) return finished.find(record) === undefined;
    if (entry.owner !== record.owner) return true;
    return projectionUnder(entry, record.ignored) !== record.projection;
  }

  begin(id: string): void {
    this.#inFlight.set(id, undefined);
  }

  /** Ends `begin`. After a success, what was seen meanwhile is reviewed. */
  end(id: string, succeeded: boolean): void {
    const gone = this.#inFlight.get(id);
    this.#inFlight.delete(id);
    if (gone !== undefined) this.#bury(gone);
    // A failure is tried again by its caller, with back-off; an event must not cut that short.
    if (succeeded) this.#review(id);
  }

  /** Computes the health of an object; changes of it from now on are reported. */
  health(record: AppliedRecord): string | undefined {
    const { inventory, rules, clock, finished } = this.#options;
    const entry = inventory.get(record.resource, record.key);
    const object = entry?.object;
    // A rule's message can say anything of an object: only its owner may ask for that.
    const rule = entry?.owner === record.owner ? rules.find(record, entry) : undefined;
    const { problem, recheckAfter } = objectHealth(
      { ...record, object, rule, finished: finished.find(record) },
      clock.now(),
    );
    record.problem = problem;
    if (recheckAfter !== undefined) this.#later(record, recheckAfter);
    return problem;
  }

  /** Reviews an object of which its owner's rules may say something else. */
  judged(id: string): void {
    this.#review(id);
  }

  forget(id: string): void {
    this.#timers.get(id)?.abort();
    this.#timers.delete(id);
    this.#options.backoff.forget(id);
  }

  /** An answer that came after the deletion of what it tells of: no event will say so once more. */
  #bury({ resource, key, object }: InventoryEntry): void {
    const { inventory } = this.#options;
    const answered = inventory.get(resource, key);
    if (answered !== undefined && !isNewer(answered.object, object)) inventory.leave(answered);
  }

  #review(id: string): void {
    const { inventory, records, backoff, notify } = this.#options;
    const record = records.get(id);
    if (record === undefined || this.#inFlight.has(id)) return;
    const entry = inventory.get(record.resource, record.key);
    const drifted = this.hasDrifted(record);
    if (entry !== undefined && !drifted) this.#settled(entry, record);
    const news = this.#healthNews(record, entry);
    const pause = drifted ? backoff.pause(id) : 0;
    if (pause === 0 && isNews(record, drifted, entry)) notify(record.owner);
    else if (news !== undefined) notify(record.owner, news);
    if (pause > 0) this.#later(record, pause);
  }

  /** Whether its health changed, or it has ended: what has ended and goes is healthy. */
  #healthNews(record: AppliedRecord, entry: InventoryEntry | undefined): ObjectNews | undefined {
    const before = record.problem;
    const hasEnded = this.noteFinished(record, entry);
    const now = this.health(record);
    if (hasEnded) return 'change';
    if (now === before) return undefined;
    return now === undefined || before === undefined ? 'change' : 'detail';
  }

  /** What differs is still to be compared field by field; what is as applied needs no content. */
  #settled(entry: InventoryEntry, { owner, resource }: AppliedRecord): void {
    // A rule may ask for anything that the object has.
    if (!this.#options.rules.has(owner, resource)) slim(entry);
  }

  /** Reviews an object once more after a while; one pending review per object, the latest. */
  #later({ id }: AppliedRecord, delay: number): void {
    const { clock, signal } = this.#options;
    this.#timers.get(id)?.abort();
    const timer = new AbortController();
    this.#timers.set(id, timer);
    const due = (): void => {
      if (this.#timers.get(id) === timer) this.#timers.delete(id);
      this.#review(id);
    };
    clock.sleep(delay, AbortSignal.any([signal, timer.signal])).then(due, () => undefined);
  }
}

/** Drift that is let be is news only once it is another one, or gone. */
function isNews(
  { accepted }: AppliedRecord,
  drifted: boolean,
  entry: InventoryEntry | undefined,
): boolean {
  if (accepted === undefined) return drifted;
  return accepted !== anyState && (!drifted || driftState(entry) !== accepted);
}
