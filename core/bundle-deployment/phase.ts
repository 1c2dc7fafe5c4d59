import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../api/v1alpha1/bundle-deployment.ts';
import { OutdatedOwnerError } from '../apply/index.ts';
import type { Blocked, LeftOutObject } from '../contracts/applier.ts';
import type { Logger } from '../contracts/logger.ts';
import type { ReconcileDependencies } from './dependencies.ts';
import type { LiveDeployment } from './live-deployment.ts';
import type { Recipe } from './rendering/rendered-objects.ts';

/** The findings of one reconcile so far; only `inOrder` adds to them. */
export interface BundleDeploymentState {
  /** As last read from or written to the API server. */
  readonly deployment: BundleDeployment;
  /** The status to write at the end. */
  readonly status: BundleDeploymentStatus;
  /** The Bundle of the current template. */
  readonly bundle?: Bundle;
  /** The Bundle to apply now: that of the template, or the active one while that one must wait. */
  readonly target?: Bundle;
  readonly blocked?: Blocked | undefined;
  /** Why the template's Bundle cannot be rendered: thrown after the active one is reconciled. */
  readonly failure?: Error;
  /** What the objects and hooks were rendered from. */
  readonly recipe?: Recipe | undefined;
  /**
   * Digest of the target's rendered objects and their namespaces; only with upgradePolicy Manual.
   */
  readonly content?: string | undefined;
  /** Why the target could not be loaded, to compare its content with the approved one. */
  readonly loadError?: unknown;
  /** This content is approved. */
  readonly approved?: boolean;
  /** A part of the target may be applied by now. */
  readonly begun?: boolean;
  /** The target is completely applied, and no deletion is pending. */
  readonly settled?: boolean;
  /** The objects are those of the last apply, not rendered from the present spec. */
  readonly kept?: boolean;
  readonly objects?: readonly KubernetesObject[];
  /** Objects that the class has rendered and left out. */
  readonly leftOut?: readonly LeftOutObject[] | undefined;
  /** Only the last applied objects may be applied. */
  readonly keepOnly?: boolean;
  /** The objects before certificates were added. */
  readonly uncertified?: readonly KubernetesObject[];
  /** A certificate rotation is in progress: its differences are not drift. */
  readonly rotating?: boolean;
  /** The target's hooks: created at their event, and not kept in place. */
  readonly hooks?: readonly KubernetesObject[];
  /** Digest of objects and hooks; only when there are hooks. */
  readonly revision?: string | undefined;
}

/**
 * Whether the target only stands in for what the deployment asks for, until that can be rolled out. A
 * rollback is the decision to go back, until somebody changes the template.
 */
export function standsIn({ target, bundle, kept, status }: BundleDeploymentState): boolean {
  const { from, to } = status.rollback ?? {};
  const isDecided = to !== undefined && from === bundle?.metadata.name;
  if (isDecided && to === target?.metadata.name) return false;
  return kept === true || target?.metadata.uid !== bundle?.metadata.uid;
}

/** The findings of a phase. A phase that throws has found only the error. */
export interface Found extends Partial<Omit<BundleDeploymentState, 'deployment'>> {
  /** Ends the reconcile. */
  readonly done?: true;
  /** Ends the reconcile and requeues it after so many milliseconds. */
  readonly requeueAfter?: number;
  /** Ends the reconcile with this error; its other findings count. */
  readonly error?: unknown;
}

export interface PhaseContext {
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** The deployment, for writes. */
  readonly live: LiveDeployment;
  /** Reconciles again after `ms`, or earlier if this reconcile requests it. */
  readonly wakeAfter: (ms: number) => void;
}

export type Phase = (
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
) => Promise<Found>;

/** The dependencies and context of phases. */
export interface Surroundings {
  readonly dependencies: ReconcileDependencies;
  readonly context: PhaseContext;
}

/**
 * A sequence of phases: each receives the findings of those before it, until one ends the
 * reconcile. The answer to a write may show that the spec has changed: phases before have judged
 * another one, such as one that was not paused. It may also show a deletion: then nothing more is
 * rolled out.
 */
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
      if (hasEnded(found) || isOutdated(state.deployment, context)) break;
      if (isDeletedSince(state.deployment, context)) break;
    }
    return found;
  };
}

/**
 * Whether nothing may be written about an error: the process ends, or somebody changed the
 * deployment or restored the API server's store, and a status would tell about a former state.
 */
export function mustNotBeTold(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof OutdatedOwnerError;
}

/** Whether an answer has shown that the spec is not the one with which the reconcile began. */
export function isOutdated(
  { spec }: BundleDeployment,
  { live }: Pick<PhaseContext, 'live'>,
): boolean {
  return !isDeepStrictEqual(live.object.spec, spec);
}

/** Whether an answer has shown that the deployment has been deleted since the reconcile began. */
export function isDeletedSince(
  { metadata: { deletionTimestamp } }: BundleDeployment,
  { live }: Pick<PhaseContext, 'live'>,
): boolean {
  return live.object.metadata.deletionTimestamp !== deletionTimestamp;
}

function hasEnded(found: Found): boolean {
  return found.done === true || found.requeueAfter !== undefined || 'error' in found;
}

/**
 * Milliseconds until core checks again for a change of the cluster that sends no event: back-off
 * alone may reach a quarter of an hour.
 */
export const longestWait = 60_000;
