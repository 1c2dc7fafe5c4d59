import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type { FinishedObject, HeldPrune } from '../../api/v1alpha1/deployment-progress.ts';
import type { HookProgress, HookRequest, RunningHook, RunningHookRequest } from './hooks.ts';

export type { FinishedObject };

/** An object that a class has rendered and annotated, so that core does not apply it. */
export interface LeftOutObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** As the class has it: undefined also for an object of the install namespace. */
  readonly namespace?: string;
  readonly name: string;
  /** The reason of the class, as a clause. */
  readonly because: string;
}

export interface ApplyRequest {
  readonly owner: BundleDeployment;
  readonly objects: readonly KubernetesObject[];
  /** Start each stage only when the one before is healthy. Repairs never wait. */
  readonly waitForReady?: boolean;
  /** Live objects with these names are orphaned, not deleted. */
  readonly leftOut?: readonly LeftOutObject[];
  /** The content's hooks, which are created at their event: checked with the rest. */
  readonly hooks?: readonly KubernetesObject[];
  /**
   * Check everything, but apply only what hooks need: namespaces and CRDs. The result is never
   * complete.
   */
  readonly foundationOnly?: boolean;
  /** The same content was completely applied before: differences were made by others. */
  readonly unchanged?: boolean;
  /** False: deletions of objects that the set lacks must be confirmed (default: true). */
  readonly deletionsAsked?: boolean;
  /** With `deletionsAsked: false`: why the set may lack them, as a clause. */
  readonly changedFacts?: string;
  /** With `deletionsAsked: false`: the `askedDeletions` of earlier results of this content. */
  readonly askedBefore?: readonly string[];
  /**
   * The set only keeps what is installed in place until another one can be rolled out, which may have
   * the other objects of the owner: none of them is deleted or orphaned (default: false).
   */
  readonly standsIn?: boolean;
  /**
   * Called, perhaps more than once, when everything is checked and before the first object changes;
   * nothing changes when it rejects. An apply that is refused as a whole does not call it.
   */
  readonly begin?: () => Promise<void>;
  /** Receives, before an apply throws, what the owner's status must remember all the same. */
  readonly remember?: (found: RememberedResult) => void;
  /** Name of the objects' Bundle. */
  readonly bundle?: string;
  /** Objects of that Bundle that have ended by themselves: they are not created again. */
  readonly finished?: readonly FinishedObject[];
  readonly signal: AbortSignal;
}

export interface ApplyResult {
  /** Number of objects created, changed or deleted; 0 when everything was as desired. */
  readonly changes: number;
  /** False while later stages wait: an event of the objects wakes the owner. */
  readonly complete: boolean;
  /** Why the apply waits, without an error. */
  readonly blocked?: Blocked | undefined;
  /** Deletions that wait for confirmation. */
  readonly heldPrune?: HeldPrune | undefined;
  /**
   * Keys of deletions that somebody asked for and that wait, for whatever reason; empty while only
   * others wait.
   */
  readonly askedDeletions?: readonly string[] | undefined;
  /** Drift that spec.drift.mode Warn leaves in place. */
  readonly drifted?: readonly DriftedObject[] | undefined;
  /** Those of the request, with objects that have ended since. */
  readonly finished?: readonly FinishedObject[];
  /** `Kind.group` of all kinds of which the owner may have objects. */
  readonly groupKinds?: readonly string[];
}

/** `askedDeletions` only if everything was applied, and deletions have failed. */
export interface RememberedResult extends Pick<ApplyResult, 'askedDeletions' | 'groupKinds'> {}

/** An object that differs from its bundle. */
export interface DriftedObject {
  /** `<Kind>/<namespace>/<name>`, or `<Kind>/<name>` for a cluster-scoped object. */
  readonly object: string;
  readonly missing: boolean;
  /** Paths of the fields that differ, such as `spec.replicas`; empty when the object is missing. */
  readonly fields: readonly string[];
}

/** The removal of objects of an owner that is being deleted. */
export interface RemoveRequest {
  readonly owner: BundleDeployment;
  readonly policy: DeletionPolicy;
  readonly signal: AbortSignal;
}

export interface RemoveResult {
  /** What the removal waits for; undefined when it is finished. An event wakes the owner. */
  readonly waitsFor?: {
    readonly message: string;
    /** Monotonic time since when it waits, for one object after the other. */
    readonly since: number;
  };
}

/**
 * Why a Bundle is not, or not completely, rolled out: reason and message of condition Progressing.
 */
export interface Blocked {
  /** One of `progressReason`. */
  readonly reason: string;
  readonly message: string;
}

/** One unhealthy object, as the Healthy condition lists it. */
export interface HealthProblem {
  /** `(<group>/<version>, Kind=<Kind>)(<ns>/<name>): <text>` */
  readonly message: string;
  /** The object is as an earlier process left it, and its health will be known soon. */
  readonly unknown?: true;
}

/** One field that an apply would change. */
export interface FieldChange {
  /** Such as `spec.template.spec.containers[name="app"].image`. */
  readonly path: string;
  /** As JSON, shortened, `***` in a Secret; undefined for a new field. */
  readonly before?: string;
  /** As above; undefined for a removed field. */
  readonly after?: string;
}

/** The change that an apply would make to one object. */
export interface ForecastChange {
  readonly action: 'Create' | 'Change' | 'Delete' | 'Orphan';
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** Undefined for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
  /** The first fields that would change. */
  readonly fields?: readonly FieldChange[];
  /** Number of further fields. */
  readonly moreFields?: number;
  /** Why core would orphan the object instead of deleting it. */
  readonly because?: string;
}

/** The result of an apply, forecast. */
export interface Forecast {
  /** Differs whenever the apply would do anything else. */
  readonly digest: string;
  /** In the order of an apply; deletions and orphaned objects last. */
  readonly changes: readonly ForecastChange[];
  readonly unchanged: number;
  /** Why the apply would fail, one per object. */
  readonly problems: readonly string[];
  /** Warnings about fields that the apply would leave out, and CRDs that it would keep unusable. */
  readonly warnings: readonly string[];
}

/** Applies sets of objects, and keeps the inventory of each deployment's objects. */
export interface Applier {
  /**
   * Must resolve before anything is written for an owner, its status included.
   * @throws OutdatedOwnerError when the API server's store went back in time, and has the owner in
   * another state.
   */
  confirm(owner: BundleDeployment, signal: AbortSignal): Promise<void>;
  /**
   * Applies in stages, checks ownership before the first change, and prunes objects that the owner
   * no longer wants. Sends no request for unchanged objects.
   * @throws TerminalError with the condition's reason (InstallFailed, UpgradeFailed,
   * ReconcileFailed, ErrorGettingReleaseState) and message; OutdatedOwnerError when somebody has
   * changed the owner before its objects are pruned.
   */
  apply(request: ApplyRequest): Promise<ApplyResult>;
  /**
   * Forecasts by dry runs what `apply` would do now; writes nothing.
   * @throws TerminalError when `apply` would refuse the set as a whole; Error when the API server
   * cannot answer now.
   */
  plan(request: ApplyRequest): Promise<Forecast>;
  /**
   * Deletes or orphans the objects of an owner that is being deleted, as far as possible without
   * waiting: the last stage first, each after the one before is deleted. Works from any state,
   * without the Bundle's content.
   * @throws Error that names the objects which the server refused to delete.
   */
  remove(request: RemoveRequest): Promise<RemoveResult>;
  /**
   * Creates the object of a hook, or finds it; never waits for it.
   * @throws TerminalError when another object has its name; Error.
   */
  runHook(request: HookRequest): Promise<HookProgress>;
  /**
   * The oldest hook of the owner that has not ended; undefined when all have. Its end wakes the
   * owner.
   */
  runningHook(request: RunningHookRequest): Promise<RunningHook | undefined>;
  /** Deletes the object of that run, or of a later attempt of it, if it exists. */
  removeHook(request: HookRequest): Promise<void>;
  /**
   * Gives the Job of that run, or of a later attempt of it, its `ttlSecondsAfterFinished`, which it
   * is created without: for a run whose end is in the status.
   */
  expireHook(request: HookRequest): Promise<void>;
  /** Problems of the objects last applied, from the watch caches; empty means healthy. */
  health(owner: BundleDeployment): readonly HealthProblem[];
  /**
   * The same, with the reason why pods of the first workloads are not ready: asks the API server
   * for it.
   */
  explainedHealth(owner: BundleDeployment, signal: AbortSignal): Promise<readonly HealthProblem[]>;
  /**
   * Whether this process has applied the owner's objects; otherwise `health` knows none of them.
   */
  knows(ownerName: string): boolean;
  /** Forgets a deleted owner. */
  forget(ownerName: string): void;
  /**
   * Calls back with the owner's name when an object drifts, disappears or changes its health;
   * `detail` when only the text of its bad health changes.
   */
  onChange(listener: (ownerName: string, news: ObjectNews) => void): void;
}

export type ObjectNews = 'change' | 'detail';
