import type { ObjectNews } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import { contentDigest } from '../fields/projection.ts';
import { objectHealth } from '../health/object-health.ts';
import { type InventoryEntry, projectionUnder, slim } from '../inventory/entry.ts';
import type { Inventory, ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import { isNewer } from '../objects/object-id.ts';
import type { AppliedRecord } from '../state/applied-record.ts';
import type { OwnerState, OwnerStates } from '../state/owner-state.ts';
import type { HealthRules } from './health-rules.ts';

interface DriftDetectorOptions {
  readonly inventory: Inventory;
  readonly owners: OwnerStates;
  readonly rules: HealthRules;
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
export class DriftDetector implements ObjectEventListener {
  readonly #options: DriftDetectorOptions;
  /**
   * Objects with a request of ours under way: the answer decides, not an event that overtook it.
   * With what the watch has seen go meanwhile.
   */
  readonly #inFlight = new Map<string, InventoryEntry | undefined>();

  constructor(options: DriftDetectorOptions) {
    this.#options = options;
  }

  hear({ type, entry }: ObjectEvent): void {
    if (type === 'changed') this.#review(entry.id);
    if (type === 'removed') this.#removed(entry);
  }

  #removed(entry: InventoryEntry): void {
    if (this.#inFlight.has(entry.id)) this.#inFlight.set(entry.id, entry);
    const record = this.#options.owners.recordOf(entry.id);
    // What has ended in its last moment is told of with its end.
    if (record !== undefined && this.noteFinished(record, entry)) {
      this.#options.notify(entry.owner);
    }
    this.#review(entry.id);
  }

  /** Takes note of an object that has ended by itself; true where that is news. */
  noteFinished(record: AppliedRecord, entry: InventoryEntry | undefined): boolean {
    if (entry?.owner !== record.owner) return false;
    return this.#stateOf(record).finished.note(record, entry.object);
  }

  /** True where the live object is no longer what was applied. */
  hasDrifted(record: AppliedRecord): boolean {
    const entry = this.#options.inventory.get(record.resource, record.key);
    if (entry === undefined) return this.#stateOf(record).finished.find(record) === undefined;
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
    const { inventory, rules, clock } = this.#options;
    const entry = inventory.get(record.resource, record.key);
    const object = entry?.object;
    // A rule's message can say anything of an object: only its owner may ask for that.
    const rule = entry?.owner === record.owner ? rules.find(record, entry) : undefined;
    const finished = this.#stateOf(record).finished.find(record);
    const { problem, missingVerdict, recheckAfter } = objectHealth(
      { ...record, object, rule, finished },
      clock.now(),
    );
    record.problem = problem;
    record.missingVerdict = missingVerdict;
    if (recheckAfter !== undefined) this.#later(record, recheckAfter);
    return problem;
  }

  /** Reviews an object of which its owner's rules may say something else. */
  judged(id: string): void {
    this.#review(id);
  }

  /** An answer that came after the deletion of what it tells of: no event will say so once more. */
  #bury({ resource, key, object }: InventoryEntry): void {
    const { inventory } = this.#options;
    const answered = inventory.get(resource, key);
    if (answered !== undefined && !isNewer(answered.object, object)) inventory.forget(answered);
  }

  #review(id: string): void {
    const { inventory, owners, notify } = this.#options;
    const record = owners.recordOf(id);
    if (record === undefined || this.#inFlight.has(id)) return;
    const entry = inventory.get(record.resource, record.key);
    const drifted = this.hasDrifted(record);
    if (entry !== undefined && !drifted) this.#settled(entry, record);
    const news = this.#healthNews(record, entry);
    const pause = drifted ? this.#stateOf(record).repairs.pause(id) : 0;
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
  #later(record: AppliedRecord, delay: number): void {
    const { clock, signal } = this.#options;
    const { id } = record;
    const { reviews } = this.#stateOf(record);
    reviews.get(id)?.abort();
    const timer = new AbortController();
    reviews.set(id, timer);
    const due = (): void => {
      if (reviews.get(id) === timer) reviews.delete(id);
      this.#review(id);
    };
    clock.sleep(delay, AbortSignal.any([signal, timer.signal])).then(due, () => undefined);
  }

  #stateOf({ owner }: AppliedRecord): OwnerState {
    return this.#options.owners.of(owner);
  }
}

/** Accepted drift is news only when it changes or disappears. */
function isNews(
  { accepted }: AppliedRecord,
  drifted: boolean,
  entry: InventoryEntry | undefined,
): boolean {
  if (accepted === undefined) return drifted;
  return accepted !== anyState && (!drifted || driftState(entry) !== accepted);
}

/** Stands for every state. */
export const anyState = '*';

/** The state of an object that drifted: another one is news. */
export function driftState(entry: InventoryEntry | undefined): string {
  return entry === undefined ? 'missing' : contentDigest(entry.object);
}
