import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';

export interface ApplyRequest {
  readonly owner: BundleDeployment;
  readonly objects: readonly KubernetesObject[];
  readonly signal: AbortSignal;
}

export interface ApplyResult {
  /** Objects created, changed or deleted; 0 when everything already was as wanted. */
  readonly changes: number;
  /** False where later stages are still to come: an event of the objects wakes the owner then. */
  readonly complete: boolean;
  /** Why not everything was done, though nothing went wrong. */
  readonly holdUp?: HoldUp | undefined;
}

/** What holds a deployment up on purpose, as the condition Progressing tells it. */
export interface HoldUp {
  /** One of `progressReason`. */
  readonly reason: string;
  readonly message: string;
}

/** One object that is not healthy, as the Healthy condition lists it (spec section 10). */
export interface HealthProblem {
  /** `(<group>/<version>, Kind=<Kind>)(<ns>/<name>): <text>` */
  readonly message: string;
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
  /** Problems of the objects last applied, from the watch caches; empty means healthy. */
  health(owner: BundleDeployment): readonly HealthProblem[];
  /** Forgets an owner that is gone; its objects are the garbage collector's. */
  forget(ownerName: string): void;
  /** Calls back with the owner's name when an object drifts, disappears or changes its health. */
  onChange(listener: (ownerName: string) => void): void;
}
