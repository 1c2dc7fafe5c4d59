import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../api/v1alpha1/bundle-deployment.ts';
import type { Blocked } from '../contracts/applier.ts';
import type { Logger } from '../contracts/logger.ts';
import type { ReconcileDependencies } from './dependencies.ts';
import type { LiveDeployment } from './live-deployment.ts';
import type { Recipe } from './rendering/rendered-objects.ts';

/** What one reconcile of a BundleDeployment has found out so far; only `inOrder` adds to it. */
export interface BundleDeploymentState {
  /** As last read from or written to the API server. */
  readonly deployment: BundleDeployment;
  /** The status to write at the end. */
  readonly status: BundleDeploymentStatus;
  /** The Bundle of the current template. */
  readonly bundle?: Bundle;
  /** The Bundle to apply now: that one, or the active one while that one has to wait. */
  readonly target?: Bundle;
  readonly blocked?: Blocked | undefined;
  /** Why nothing can be made of that Bundle: thrown once the active one is seen to. */
  readonly failure?: Error;
  /** What the objects and hooks were made of. */
  readonly recipe?: Recipe | undefined;
  /** Digest of all that is rendered of the target, and where it goes; with upgradePolicy Manual. */
  readonly content?: string | undefined;
  /** Somebody has approved exactly that. */
  readonly approved?: boolean;
  /** All of the target is applied, and nothing waits to be deleted. */
  readonly settled?: boolean;
  /** They are as they were applied last: nothing is made of the target as the spec is by now. */
  readonly kept?: boolean;
  readonly objects?: readonly KubernetesObject[];
  /** No others may be applied than those that were applied last. */
  readonly keepOnly?: boolean;
  /** The same before they were given certificates. */
  readonly uncertified?: readonly KubernetesObject[];
  /** New certificates are on their way to the objects: what differs is no drift. */
  readonly rotating?: boolean;
  /** Of the target as well: created when their time comes, and no part of what is kept in place. */
  readonly hooks?: readonly KubernetesObject[];
  /** Digest of the two; only where there are hooks. */
  readonly revision?: string | undefined;
}

/** What a phase has found. One that throws has found nothing but the error. */
export interface Found extends Partial<Omit<BundleDeploymentState, 'deployment'>> {
  /** Ends the reconcile. */
  readonly done?: true;
  /** Ends the reconcile, and asks for the next one after so many milliseconds. */
  readonly requeueAfter?: number;
  /** Ends the reconcile with this error; the rest of what was found counts all the same. */
  readonly error?: unknown;
}

export interface PhaseContext {
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The deployment, to write to. */
  readonly live: LiveDeployment;
  /** Reconciles again after `ms`, or earlier where this reconcile's outcome asks for it. */
  readonly wakeAfter: (ms: number) => void;
}

export type Phase = (
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
) => Promise<Found>;

/** What phases work with, where they pass it on. */
export interface Surroundings {
  readonly dependencies: ReconcileDependencies;
  readonly context: PhaseContext;
}

/** One phase of several: each is given what those before it have found, until one ends the reconcile. */
export function inOrder(...phases: readonly Phase[]): Phase {
  return async (state, dependencies, context) => {
    let found: Found = {};
    for (const phase of phases) {
      const known = { ...state, ...found, deployment: context.live.object };
      try {
        found = { ...found, ...(await phase(known, dependencies, context)) };
      } catch (error) {
        found = { ...found, error };
      }
      if (hasEnded(found)) break;
    }
    return found;
  };
}

function hasEnded(found: Found): boolean {
  return found.done === true || found.requeueAfter !== undefined || 'error' in found;
}

/**
 * Milliseconds until a deployment is looked at again that waits for something of the cluster's of
 * which nobody tells: a back-off alone may come to a quarter of an hour.
 */
export const longestWait = 60_000;
