import type { ObjectNews } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import { contentDigest } from '../fields/projection.ts';
import { objectHealth } from '../health/object-health.ts';
import { type InventoryEntry, projectionUnder, slim } from '../inventory/entry.ts';
import type { Inventory, ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import { isNewer } from '../objects/object-id.ts';
import type { AppliedRecord } from '../state/applied-record.ts';
import type { OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import type { HealthRules } from './health-rules.ts';

interface DriftDetectorOptions {
  readonly inventory: Inventory;
  readonly owners: OwnerStates;
  readonly rules: HealthRules;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with an owner whose objects must be reconciled. */
  readonly notify: (owner: string, news?: ObjectNews) => void;
}

/**
 * Compares what the watches see with what was applied: calls `notify` when others delete or change
 * an object, or when its health changes. Core's own writes, and status changes that leave the
 * health the same, are silent.
 */
export class DriftDetector implements ObjectEventListener {
  readonly #options: DriftDetectorOptions;
  /**
   * Objects with a request under way: its response decides, not an event that arrived before it.
   * The value is the entry whose removal the watch has seen meanwhile.
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
    // An object that ended and was deleted in the same event is reported as finished.
    if (record !== undefined && this.noteFinished(record, entry)) {
      this.#options.notify(entry.owner);
    }
    this.#review(entry.id);
  }

  /** Records that an object has ended by itself; true when that is news. */
  noteFinished(record: AppliedRecord, entry: InventoryEntry | undefined): boolean {
    if (entry?.owner !== record.owner) return false;
    return this.#stateOf(record).finished.note(record, entry.object);
  }

  /** True when the live object differs from what was applied. */
  hasDrifted(record: AppliedRecord): boolean {
    const entry = this.#options.inventory.get(record.resource, record.key);
    if (entry === undefined) return this.#stateOf(record).finished.find(record) === undefined;
    if (entry.owner !== record.owner) return true;
    return projectionUnder(entry, record.ignored) !== record.projection;
  }

  begin(id: string): void {
    this.#inFlight.set(id, undefined);
  }

  /** Ends `begin`. After a success, reviews what the watch saw meanwhile. */
  end(id: string, succeeded: boolean): void {
    const gone = this.#inFlight.get(id);
    this.#inFlight.delete(id);
    if (gone !== undefined) this.#bury(gone);
    // The caller retries a failure with back-off; an event must not cut that short.
    if (succeeded) this.#review(id);
  }

  /** Computes the health of an object; `notify` reports changes of it from now on. */
  health(record: AppliedRecord): string | undefined {
    const { inventory, rules, clock } = this.#options;
    const entry = inventory.get(record.resource, record.key);
    const object = entry?.object;
    // A rule's message can quote any part of an object, so only the rules of the object's owner may
    // judge it.
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

  /** Reviews an object whose owner's rules may have a new verdict. */
  judged(id: string): void {
    this.#review(id);
  }

  /**
   * Forgets a response that arrived after the deletion event of its object: no other event will
   * follow.
   */
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

  /**
   * Reports a change of health, or that the object has ended: an ended object that is deleted is
   * healthy.
   */
  #healthNews(record: AppliedRecord, entry: InventoryEntry | undefined): ObjectNews | undefined {
    const before = record.problem;
    const hasEnded = this.noteFinished(record, entry);
    const now = this.health(record);
    if (hasEnded) return 'change';
    if (now === before) return undefined;
    return now === undefined || before === undefined ? 'change' : 'detail';
  }

  /**
   * Drops the content of an object that is as applied; a drifted one keeps it for the comparison
   * field by field.
   */
  #settled(entry: InventoryEntry, { owner, resource }: AppliedRecord): void {
    // A rule may read any field of the object.
    if (!this.#options.rules.has(owner, resource)) slim(entry);
  }

  /**
   * Reviews an object again after a delay; each object has at most one pending review, the latest.
   */
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

/** Matches every state. */
export const anyState = '*';

/** The state of an object that drifted; drift is news again when this changes. */
export function driftState(entry: InventoryEntry | undefined): string {
  return entry === undefined ? 'missing' : contentDigest(entry.object);
}
