import type { KubernetesObject } from '../../../api/meta.ts';
import type { HookProgress } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import type { OwnRules } from '../health/rules/own-verdicts.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { type AppliedRecord, FinishedObjects } from './applied-record.ts';
import { RepairBackoff } from './repair-backoff.ts';

/** The one hook that a deployment waits for. */
interface AwaitedHook {
  readonly id: string;
  readonly run: string;
  /** How it ended; its object may be gone by the time anybody asks. */
  ended?: HookEnd;
  /** The owner knows. */
  told?: boolean;
}

/** How a hook has ended. */
export type HookEnd = Extract<HookProgress, { readonly state: 'succeeded' | 'failed' }>;

/** What the removal of a deployment's objects waits for. */
interface AwaitedRemoval {
  readonly ids: Set<string>;
  /** The one that people are told of. */
  readonly shown: string;
  /** By the monotonic clock: since when it waits for one thing after the other. */
  readonly since: number;
}

/** A namespace by its name. */
export type SharedNamespace = Pick<DesiredObject, 'id' | 'resource' | 'key'>;

/** What the account of a deployment may do: asked again when the deployment changes, or something failed. */
export interface GrantedPermissions {
  /** Account and generation of the deployment that asked. */
  of: string;
  permissions: Set<string>;
  /** The account that was found to have all permissions last. */
  trusted?: string;
}

/** Why pods of one deployment's workloads do not get ready. */
export interface PodReasonsOf {
  readonly at: number;
  /** By the line that tells of the workload. */
  readonly byLine: ReadonlyMap<string, string>;
}

/** Of each object one record, whoever applied it last, and one deployment that holds it. */
interface ObjectIndex {
  readonly records: Map<string, AppliedRecord>;
  readonly holders: Map<string, OwnerState>;
  /** Those that wait for events of objects which may be others' by then. */
  readonly awaiting: Set<OwnerState>;
}

/**
 * What the process remembers of one deployment: lost with the process, found again by looking at the
 * cluster, and forgotten as a whole once the deployment is gone (docs/adr/0049).
 */
export class OwnerState {
  readonly name: string;
  /** Repairs of its objects, for their pauses. */
  readonly repairs: RepairBackoff;
  /** Reviews of single objects that are due later, by object. */
  readonly reviews = new Map<string, AbortController>();
  /** Objects of its Bundle that have ended by themselves. */
  readonly finished = new FinishedObjects();
  /** Its health rules, and what they have said. */
  rules: OwnRules | undefined;
  podReasons: PodReasonsOf | undefined;
  /** The last install met objects of somebody else's: the next one looks before it creates. */
  occupied = false;
  /** It looks again soon whether those that may take its objects have had time to. */
  awaitsTransfer = false;
  /** Namespaces of others in its bundle. */
  namespaces: ReadonlyMap<string, SharedNamespace> = new Map();
  /** It is being deleted: namespaces are not kept for it. */
  isEnding = false;
  /** Deletions that were confirmed and may not have succeeded yet. */
  confirmedPrunes: ReadonlySet<string> = new Set();
  /** Kinds of optional objects that it awaits. */
  optionalKinds: readonly GroupKind[] = [];
  /** Since when it waits for a kind to be served, by the monotonic clock. */
  unservedSince: number | undefined;
  /** How often the inventory had gone back in time when the deployment was last read. */
  checkedRewinds = 0;
  /** UID and version of the deployment as it was last handed in. */
  handedIn: Pick<KubernetesObject, 'metadata'> | undefined;
  /** The answer to our last write of its ApplySet marks: what a watch hands in may be older. */
  parent: KubernetesObject | undefined;
  permissions: GrantedPermissions | undefined;
  readonly #index: ObjectIndex;
  /** IDs of its objects in their order, with those that are only about to be applied. */
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

  /** Objects of its bundle that others have taken with its consent: object to taker. */
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
    return this.#members.flatMap((id) => {
      const record = this.#index.records.get(id);
      return record?.owner === this.name ? [record] : [];
    });
  }

  /** The record of an object, whoever's it is. */
  recordOf(id: string): AppliedRecord | undefined {
    return this.#index.records.get(id);
  }

  setRecord(record: AppliedRecord): void {
    this.#index.records.set(record.id, record);
  }

  /** Forgets what it knows of one object; another deployment's record of it stays. */
  dropRecord(id: string): void {
    if (this.recordOf(id)?.owner === this.name) this.#index.records.delete(id);
  }

  /** Makes objects known before they are applied: they are forgotten with it after a failure too. */
  addMembers(ids: Iterable<string>): void {
    this.#members = [...new Set([...this.#members, ...ids])];
  }

  /** Says which objects it has; records of others of its objects are forgotten. */
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

  /** True where all that it wants is known: what it does not hold it does not want. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Who else holds an object; undefined where it is free or its own. */
  otherHolder(id: string): string | undefined {
    const holder = this.#index.holders.get(id);
    return holder === this ? undefined : holder?.name;
  }

  /** Takes every free object of these; returns those that were not its own before. */
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

  /** Takes these, whoever holds them: they were transferred, or are its own in the cluster. */
  seize(ids: readonly string[]): void {
    for (const id of ids) {
      const holder = this.#index.holders.get(id);
      if (holder !== this) holder?.release([id]);
    }
    this.claim(ids);
  }

  /** Gives up what it holds beyond these; they are all that it wants. */
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

  /** Undefined where nothing was remembered of it yet. */
  find(name: string): OwnerState | undefined {
    return this.#byName.get(name);
  }

  /** The record of an object, whoever's it is. */
  recordOf(id: string): AppliedRecord | undefined {
    return this.#index.records.get(id);
  }

  /** What others hold of its objects, and their records of them, are theirs and stay. */
  forget(name: string): void {
    this.#byName.get(name)?.end();
    this.#byName.delete(name);
  }

  /** Those that an event of any object may concern: few, so that each event asks few. */
  get awaiting(): ReadonlySet<OwnerState> {
    return this.#index.awaiting;
  }

  [Symbol.iterator](): IterableIterator<OwnerState> {
    return this.#byName.values();
  }
}
