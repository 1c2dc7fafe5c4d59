import type { KubernetesObject } from '../../../api/meta.ts';
import type { HookProgress } from '../../contracts/hooks.ts';
import type { Clock } from '../../platform/clock.ts';
import type { PodReasonsOf } from '../health/pod-reason.ts';
import type { OwnRules } from '../health/rules/own-verdicts.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { type AppliedRecord, FinishedObjects } from './applied-record.ts';
import { RepairBackoff } from './repair-backoff.ts';

/** The one hook that a deployment waits for. */
interface AwaitedHook {
  readonly id: string;
  readonly run: string;
  /** How it ended; the object may be deleted before the owner asks. */
  ended?: HookEnd;
  /** The owner has been told. */
  told?: boolean;
}

/** How a hook has ended. */
export type HookEnd = Extract<HookProgress, { readonly state: 'succeeded' | 'failed' }>;

/** What the removal of a deployment's objects waits for. */
interface AwaitedRemoval {
  readonly ids: Set<string>;
  /** ID of the object in the message. */
  readonly shown: string;
  /** Monotonic time since when it waits, for one object after the other. */
  readonly since: number;
}

/** A namespace of a set. */
export type SharedNamespace = Pick<DesiredObject, 'id' | 'resource' | 'key'>;

/** What a deployment's account may do; core asks again after a change or a failure. */
export interface GrantedPermissions {
  /** Account and generation of the deployment for which core asked. */
  of: string;
  permissions: Set<string>;
  /** The last account that had all permissions. */
  trusted?: string;
}

/**
 * One record per object, of the deployment that applied it last, and one deployment that claims it.
 */
export interface ObjectIndex {
  readonly records: Map<string, AppliedRecord>;
  readonly holders: Map<string, OwnerState>;
  /** Owners that wait for events of objects which other deployments may have by then. */
  readonly awaiting: Set<OwnerState>;
}

/**
 * What the process remembers of one deployment. A new process finds it in the cluster again; it is
 * forgotten as a whole when the deployment is deleted (docs/adr/0049).
 */
export class OwnerState {
  readonly name: string;
  /** Repairs of its objects, for back-off. */
  readonly repairs: RepairBackoff;
  /** Pending reviews, by object. */
  readonly reviews = new Map<string, AbortController>();
  /** Objects of its Bundle that have ended by themselves. */
  readonly finished = new FinishedObjects();
  /** Its health rules and their verdicts. */
  rules: OwnRules | undefined;
  podReasons: PodReasonsOf | undefined;
  /** The last install met foreign objects: the next one looks before it creates. */
  occupied = false;
  /** Core checks again soon whether other deployments have taken its objects. */
  awaitsTransfer = false;
  /** IDs of objects that it drops, and the monotonic time since when it drops all of them. */
  dropped: { readonly ids: ReadonlySet<string>; readonly since: number } | undefined;
  /** Namespaces in its bundle that belong to others. */
  namespaces: ReadonlyMap<string, SharedNamespace> = new Map();
  /** It is being deleted: core keeps no namespaces for it. */
  isEnding = false;
  /** IDs of its objects that wait to be pruned. */
  waitingPrunes: ReadonlySet<string> = new Set();
  /** Confirmed deletions that may not have succeeded yet. */
  confirmedPrunes: ReadonlySet<string> = new Set();
  /** Kinds of optional objects that it waits for. */
  optionalKinds: readonly GroupKind[] = [];
  /** Monotonic time since when it waits for a kind to be served. */
  unservedSince: number | undefined;
  /** The same for the next look whether the kind is served; undefined while none is due. */
  nextLookSince: number | undefined;
  /** The inventory's number of rewinds when the deployment was last read. */
  checkedRewinds = 0;
  /** UID and version of the deployment in the last request. */
  handedIn: Pick<KubernetesObject, 'metadata'> | undefined;
  /** Response to core's last write of its ApplySet marks: a request may be older. */
  parent: KubernetesObject | undefined;
  permissions: GrantedPermissions | undefined;
  readonly #index: ObjectIndex;
  /** IDs of its objects in order, including those that core is about to apply. */
  #members: readonly string[] = [];
  readonly #claims = new Set<string>();
  #given: ReadonlyMap<string, string> = new Map();
  #hook: AwaitedHook | undefined;
  #removal: AwaitedRemoval | undefined;
  #isSettled = false;

  constructor(name: string, clock: Clock, index: ObjectIndex) {
    this.name = name;
    this.repairs = new RepairBackoff(clock);
    this.#index = index;
  }

  /** Transferred objects of its bundle: object to the deployment that took it. */
  get given(): ReadonlyMap<string, string> {
    return this.#given;
  }

  set given(given: ReadonlyMap<string, string>) {
    this.#given = given;
    this.#noteAwaiting();
  }

  get hook(): AwaitedHook | undefined {
    return this.#hook;
  }

  set hook(hook: AwaitedHook | undefined) {
    this.#hook = hook;
    this.#noteAwaiting();
  }

  get removal(): AwaitedRemoval | undefined {
    return this.#removal;
  }

  set removal(removal: AwaitedRemoval | undefined) {
    this.#removal = removal;
    this.#noteAwaiting();
  }

  #noteAwaiting(): void {
    const isAwaiting =
      this.#given.size > 0 || this.#hook !== undefined || this.#removal !== undefined;
    if (isAwaiting) this.#index.awaiting.add(this);
    else this.#index.awaiting.delete(this);
  }

  /** Its own records, in the order of its objects. */
  get records(): readonly AppliedRecord[] {
    return this.#members.flatMap((id) => this.ownRecordOf(id) ?? []);
  }

  /** Its own record of an object; undefined when another deployment applied it last. */
  ownRecordOf(id: string): AppliedRecord | undefined {
    const record = this.#index.records.get(id);
    return record?.owner === this.name ? record : undefined;
  }

  /** The record of an object, of any owner. */
  recordOf(id: string): AppliedRecord | undefined {
    return this.#index.records.get(id);
  }

  setRecord(record: AppliedRecord): void {
    this.#index.records.set(record.id, record);
  }

  /** Forgets its own record of an object; another deployment's record stays. */
  dropRecord(id: string): void {
    if (this.ownRecordOf(id) !== undefined) this.#index.records.delete(id);
  }

  /**
   * Adds objects before they are applied, so that they are forgotten with it after a failure too.
   */
  addMembers(ids: Iterable<string>): void {
    this.#members = [...new Set([...this.#members, ...ids])];
  }

  /** Replaces its objects; forgets its records of other objects. */
  setMembers(ids: Iterable<string>): void {
    const kept = new Set(ids);
    for (const { id } of this.records) if (!kept.has(id)) this.dropRecord(id);
    this.#members = [...kept];
  }

  /** Forgets all reviews and repairs of one object. */
  forgetObject(id: string): void {
    this.reviews.get(id)?.abort();
    this.reviews.delete(id);
    this.repairs.forget(id);
  }

  /** All its wanted objects are known: it wants no object that it does not claim. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The other deployment that claims an object; undefined when it is free or its own. */
  otherHolder(id: string): string | undefined {
    const holder = this.#index.holders.get(id);
    return holder === this ? undefined : holder?.name;
  }

  /** Claims every free object of these; returns those that were not its own before. */
  claim(ids: Iterable<string>): string[] {
    const { holders } = this.#index;
    return [...ids].filter((id) => {
      if (holders.has(id)) return false;
      holders.set(id, this);
      this.#claims.add(id);
      return true;
    });
  }

  release(ids: Iterable<string>): void {
    for (const id of ids) if (this.#claims.delete(id)) this.#index.holders.delete(id);
  }

  releaseAll(): void {
    this.release([...this.#claims]);
    this.#isSettled = false;
  }

  /**
   * Claims these whatever deployment claims them: they were transferred, or belong to it in the
   * cluster.
   */
  seize(ids: readonly string[]): void {
    for (const id of ids) {
      const holder = this.#index.holders.get(id);
      if (holder !== this) holder?.release([id]);
    }
    this.claim(ids);
  }

  /** Releases its claims on all other objects; these are all that it wants. */
  settle(ids: ReadonlySet<string>): void {
    this.#isSettled = true;
    this.release([...this.#claims].filter((id) => !ids.has(id)));
  }

  end(): void {
    for (const review of this.reviews.values()) review.abort();
    this.rules?.verdicts.end();
    this.setMembers([]);
    this.releaseAll();
    this.#index.awaiting.delete(this);
  }
}
