import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
  progressReason,
} from '../../../api/v1alpha1/conditions.ts';
import { dependencyCycle } from '../../../api/v1alpha1/rules/dependency-cycle.ts';
import type { RemoveResult } from '../../contracts/applier.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import { isConflict } from '../../platform/kube/index.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { shortList } from '../../short-list.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  longestWait,
  mustNotBeTold,
  type PhaseContext,
} from '../phase.ts';
import { policyInForce } from './deletion-policy.ts';

const shownDependents = 3;

/** Ends the reconcile while other deployments depend on this one; the deletion of each wakes it. */
export async function awaitDependents(
  state: BundleDeploymentState,
  { deployments }: Pick<BundleDeploymentDependencies, 'deployments'>,
): Promise<Found> {
  const names = dependentsOf(state.deployment.metadata.name ?? '', deployments);
  if (names.length === 0) return {};
  const blocked = { reason: progressReason.waitingForDependents, message: messageOf(names) };
  return { blocked, done: true };
}

/**
 * Leaves out dependents that are dependencies of this one as well: in a cycle none could be deleted
 * first.
 */
function dependentsOf(
  name: string,
  deployments: BundleDeploymentDependencies['deployments'],
): readonly string[] {
  const dependenciesOf = (from: string): readonly string[] =>
    (deployments.get({ name: from })?.spec.dependsOn ?? []).map((each) => each.name);
  return deployments
    .dependentsOf(name)
    .map(({ metadata }) => metadata.name ?? '')
    .filter((dependency) => !leadsTo({ name: dependency, dependency: name }, dependenciesOf))
    .toSorted();
}

/** Whether a chain of dependencies leads back to the deployment of that name. */
function leadsTo(...[edge, dependenciesOf]: Parameters<typeof dependencyCycle>): boolean {
  return dependencyCycle(edge, dependenciesOf) !== undefined;
}

function messageOf(names: readonly string[]): string {
  const shown = shortList(names, shownDependents);
  return names.length === 1
    ? `deletion waits for BundleDeployment ${shown}, which depends on it: delete it too, or take this one out of its spec.dependsOn`
    : `deletion waits for BundleDeployments ${shown}, which depend on it: delete them too, or take this one out of their spec.dependsOn`;
}

const reason = progressReason.deleting;
const { permissionsMissing } = bundleDeploymentReason;

/**
 * Milliseconds: most objects are deleted in a moment, and an earlier status would only cost a
 * request.
 */
const announceAfter = 2_000;

/**
 * Removes the objects, and continues when they are deleted. Their events wake it while it waits.
 */
export async function removeObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal, wakeAfter }: PhaseContext,
): Promise<Found> {
  try {
    const { waitsFor } = await remove(state.deployment, dependencies, signal);
    if (waitsFor === undefined) return {};
    const waited = dependencies.clock.monotonic() - waitsFor.since;
    if (waited < announceAfter && !isTold(state)) return { requeueAfter: announceAfter - waited };
    return { blocked: { reason, message: waitsFor.message }, done: true };
  } catch (cause) {
    if (mustNotBeTold(cause, signal)) throw cause;
    // The server may accept later what it refuses now, without an event.
    wakeAfter(longestWait);
    if (cause instanceof TerminalError && cause.reason === permissionsMissing) {
      const { message } = cause;
      const blocked = { reason: permissionsMissing, message };
      return { blocked, error: new Error(message, { cause }) };
    }
    const message = retryText(cause);
    return { blocked: { reason, message }, error: new Error(message, { cause }) };
  }
}

async function remove(
  owner: BundleDeployment,
  dependencies: ReconcileDependencies,
  signal: AbortSignal,
): Promise<RemoveResult> {
  const policy = await policyInForce(owner, dependencies, signal);
  return policy === 'Abandon' ? {} : await dependencies.applier.remove({ owner, policy, signal });
}

function isTold({ status }: BundleDeploymentState): boolean {
  const { progressing } = bundleDeploymentCondition;
  const told = findCondition(status.conditions, progressing)?.reason;
  return told === reason || told === permissionsMissing;
}

/** The state of a deletion that has ended with an error, and says so where no phase has said it. */
export function tellFailure<S extends BundleDeploymentState>(
  state: S,
  { wakeAfter }: Pick<PhaseContext, 'wakeAfter'>,
): S {
  const { blocked, failure } = state;
  // Somebody else has changed the deployment meanwhile: the next attempt knows.
  if (blocked !== undefined || failure === undefined || isConflict(failure)) return state;
  wakeAfter(longestWait);
  return { ...state, blocked: { reason, message: retryText(failure) } };
}

function retryText(cause: unknown): string {
  return `deletion failed, core retries it: ${errorMessage(cause)}`;
}

/** Removes the finalizer, because core has finished with the deployment. */
export async function release(
  _state: BundleDeploymentState,
  _dependencies: ReconcileDependencies,
  { live }: PhaseContext,
): Promise<Found> {
  await live.release();
  return { done: true };
}
