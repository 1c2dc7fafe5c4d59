import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type { FinishedObject, HeldPrune } from '../../api/v1alpha1/deployment-progress.ts';

export type { FinishedObject };

export interface ApplyRequest {
  readonly owner: BundleDeployment;
  readonly objects: readonly KubernetesObject[];
  /** Each stage begins only when the one before is healthy. Repairs never wait. */
  readonly waitForReady?: boolean;
  /** Objects of the content that are created when their time comes: checked with the rest. */
  readonly hooks?: readonly KubernetesObject[];
  /**
   * Checks everything, and applies no more than what hooks need: namespaces and CRDs. The result is
   * never complete.
   */
  readonly foundationOnly?: boolean;
  /** The same content was applied completely before: what differs was changed by others. */
  readonly unchanged?: boolean;
  /** False: objects that the set lacks wait to be confirmed. Default: true. */
  readonly deletionsAsked?: boolean;
  /** With that, as a clause: why the set may lack them. */
  readonly changedFacts?: string;
  /** Name of the Bundle that the objects are of. */
  readonly bundle?: string;
  /** Objects of that Bundle that have ended by themselves: they are not made again. */
  readonly finished?: readonly FinishedObject[];
  readonly signal: AbortSignal;
}

export interface ApplyResult {
  /** Objects created, changed or deleted; 0 when everything already was as wanted. */
  readonly changes: number;
  /** False where later stages are still to come: an event of the objects wakes the owner then. */
  readonly complete: boolean;
  /** Why not everything was done, though nothing went wrong. */
  readonly blocked?: Blocked | undefined;
  /** Deletions that wait to be confirmed. */
  readonly heldPrune?: HeldPrune | undefined;
  /** What others have changed and spec.drift.mode Warn leaves so. */
  readonly drifted?: readonly DriftedObject[] | undefined;
  /** As of the request, with those that have ended since. */
  readonly finished?: readonly FinishedObject[];
}

/** One hook of a deployment. */
export interface HookRequest {
  readonly owner: BundleDeployment;
  readonly hook: KubernetesObject;
  /** Names one run of it: an object that says so is found again, any other is of an earlier one. */
  readonly run: string;
  readonly signal: AbortSignal;
}

/** How far a hook is; an event of its object wakes the owner while it is not done. */
export type HookProgress =
  /** Since when, by its object's creationTimestamp. */
  | { readonly state: 'running'; readonly since: string }
  /** An earlier object has to go first. */
  | { readonly state: 'replacing' }
  | { readonly state: 'succeeded' }
  /** Why, as a clause. */
  | { readonly state: 'failed'; readonly reason: string };

/** An object that is not as its bundle has it. */
export interface DriftedObject {
  /** `<Kind>/<namespace>/<name>`, or `<Kind>/<name>` for a cluster-scoped object. */
  readonly object: string;
  readonly missing: boolean;
  /** Paths of the fields that differ, such as `spec.replicas`; none where it is missing. */
  readonly fields: readonly string[];
}

/** What becomes of the objects of an owner that is being deleted. */
export interface RemoveRequest {
  readonly owner: BundleDeployment;
  readonly policy: DeletionPolicy;
  readonly signal: AbortSignal;
}

export interface RemoveResult {
  /** What the rest has to wait for; absent once nothing is left to do. An event wakes the owner then. */
  readonly waitsFor?: {
    readonly message: string;
    /** By the monotonic clock: since when it waits for one thing after the other. */
    readonly since: number;
  };
}

/** Why a Bundle is not, or not completely, rolled out: condition Progressing tells it. */
export interface Blocked {
  /** One of `progressReason`. */
  readonly reason: string;
  readonly message: string;
}

/** One object that is not healthy, as the Healthy condition lists it. */
export interface HealthProblem {
  /** `(<group>/<version>, Kind=<Kind>)(<ns>/<name>): <text>` */
  readonly message: string;
  /** The object is as an earlier process left it, and whether it is healthy is about to be known. */
  readonly unknown?: true;
}

/** One field that an apply would change. */
export interface FieldChange {
  /** Such as `spec.template.spec.containers[name="app"].image`. */
  readonly path: string;
  /** As JSON, cut where it is long, `***` in a Secret; absent where the field is new. */
  readonly before?: string;
  /** Likewise; absent where the field goes. */
  readonly after?: string;
}

/** What an apply would do to one object. */
export interface ForecastChange {
  readonly action: 'Create' | 'Change' | 'Delete';
  /** Empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
  /** Of an object that would be changed: the first of them. */
  readonly fields?: readonly FieldChange[];
  /** How many more there are. */
  readonly moreFields?: number;
}

/** What an apply would do. */
export interface Forecast {
  /** Another one wherever the apply would do anything else. */
  readonly digest: string;
  /** In the order of an apply; deletions last. */
  readonly changes: readonly ForecastChange[];
  readonly unchanged: number;
  /** Why the apply would fail, object by object. */
  readonly problems: readonly string[];
  /** What the apply would leave out of objects. */
  readonly warnings: readonly string[];
}

/** Brings the cluster to a set of objects and keeps the inventory of what a deployment owns. */
export interface Applier {
  /**
   * Applies in stages, checks ownership before anything changes and prunes what the owner no
   * longer has. Sends nothing for objects that already are as wanted.
   * @throws TerminalError with the condition's reason (InstallFailed, UpgradeFailed,
   * ReconcileFailed, ErrorGettingReleaseState) and message.
   */
  apply(request: ApplyRequest): Promise<ApplyResult>;
  /**
   * What `apply` would do now, by dry runs: nothing is written.
   * @throws TerminalError where `apply` would refuse the set as a whole; Error where the API server
   * cannot tell now.
   */
  plan(request: ApplyRequest): Promise<Forecast>;
  /**
   * Deletes the objects of an owner that is being deleted, or leaves them, as far as can be done
   * without waiting: the last stage first, each once the one before is gone from the cluster. Works
   * from whatever is there, without the Bundle's content.
   * @throws Error that names what the server refused.
   */
  remove(request: RemoveRequest): Promise<RemoveResult>;
  /**
   * Creates the object of a hook, or finds it; never waits for it.
   * @throws TerminalError where something else is in its place; Error.
   */
  runHook(request: HookRequest): Promise<HookProgress>;
  /** Deletes the object of that run, or of a later try of it, if it is there. */
  removeHook(request: HookRequest): Promise<void>;
  /** Problems of the objects last applied, from the watch caches; empty means healthy. */
  health(owner: BundleDeployment): readonly HealthProblem[];
  /** The same, with why pods of the first workloads do not get ready: asks the API server for it. */
  explainedHealth(owner: BundleDeployment, signal: AbortSignal): Promise<readonly HealthProblem[]>;
  /** Whether this process has looked at the owner's objects yet: without, `health` knows of none. */
  knows(ownerName: string): boolean;
  /** Forgets an owner that is gone. */
  forget(ownerName: string): void;
  /**
   * Calls back with the owner's name when an object drifts, disappears or changes its health; `detail`
   * where it is as unhealthy as before, and merely says so in other words.
   */
  onChange(listener: (ownerName: string, news: ObjectNews) => void): void;
}

export type ObjectNews = 'change' | 'detail';
