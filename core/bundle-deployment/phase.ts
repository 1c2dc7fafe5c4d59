import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../api/v1alpha1/bundle-deployment.ts';
import type { HoldUp } from '../contracts/applier.ts';
import type { Logger } from '../contracts/logger.ts';
import type { SlowClass } from './live-deployment.ts';
import type { Recipe } from './rendering/rendered-objects.ts';

/** What one reconcile of a BundleDeployment has found out so far. */
export interface BundleDeploymentState {
  /** As last read from or written to the API server. */
  deployment: BundleDeployment;
  /** The status to write at the end. */
  status: BundleDeploymentStatus;
  /** The Bundle of the current template. */
  bundle?: Bundle;
  /** The Bundle to apply now: that one, or the active one while that one has to wait. */
  target?: Bundle;
  /** Why the Bundle of the template is not, or not completely, brought out. */
  holdUp?: HoldUp | undefined;
  /** Why nothing can be made of that Bundle: thrown once the active one is seen to. */
  failure?: Error;
  /** What the objects and hooks were made of. */
  recipe?: Recipe | undefined;
  /** Digest of all that is rendered of the target, and where it goes; with upgradePolicy Manual. */
  content?: string | undefined;
  /** Somebody has approved exactly that. */
  approved?: boolean;
  /** All of the target is applied, and nothing waits to be deleted. */
  settled?: boolean;
  /** They are as they were applied last: nothing is made of the target as the spec is by now. */
  kept?: boolean;
  objects?: readonly KubernetesObject[];
  /** No others may be applied than those that were applied last. */
  keepOnly?: boolean;
  /** The same before they were given certificates. */
  uncertified?: readonly KubernetesObject[];
  /** New certificates are on their way to the objects: what differs is no drift. */
  rotating?: boolean;
  /** Of the target as well: created when their time comes, and no part of what is kept in place. */
  hooks?: readonly KubernetesObject[];
  /** Digest of the two; only where there are hooks. */
  revision?: string | undefined;
}

export interface StepContext {
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Runs a handler of a class, and says so where it takes long. */
  readonly slowClass?: SlowClass;
  /** Reconciles again after `ms`, or earlier where this reconcile's outcome asks for it. */
  readonly wakeAfter: (ms: number) => void;
}

/** `done` ends the reconcile; the status is written either way. */
export type StepOutcome = 'continue' | 'done' | { readonly requeueAfter: number };

/**
 * Milliseconds until a deployment is looked at again that waits for something of the cluster's of
 * which nobody tells: a back-off alone may come to a quarter of an hour.
 */
export const longestWait = 60_000;
