import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
  progressReason,
} from '../../../api/v1alpha1/conditions.ts';
import type { Blocked } from '../../contracts/applier.ts';
import type { UnservedDeletions } from '../../contracts/unserved-deletions.ts';
import { unlessGone } from '../../platform/kube/index.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { ownBundle } from '../bundles.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { skipsHooks } from '../hooks/deploy-hooks.ts';
import { skipCommand } from '../hooks/hook-run.ts';
import { LiveDeployment } from '../live-deployment.ts';
import type { DeploymentMemory } from '../memory.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { withSummary } from '../readiness.ts';
import { progressing } from '../status.ts';
import { policyInForce } from './deletion-policy.ts';

const reasons: ReadonlySet<string> = new Set([
  progressReason.deleting,
  progressReason.waitingForDependents,
  bundleDeploymentReason.permissionsMissing,
]);

/**
 * True when the status has what a process that serves the class has reported of the deletion. The
 * process may have gone since, with the class.
 */
export function isBegunElsewhere(deployment: BundleDeployment): boolean {
  const told = findCondition(deployment.status?.conditions, bundleDeploymentCondition.progressing);
  if (told === undefined || !reasons.has(told.reason)) return false;
  return !told.message.startsWith(unserved(deployment));
}

/** Milliseconds until core asks a process again that has answered: its class may be removed too. */
const askedAgain = 600_000;

interface AskDependencies
  extends Pick<
    BundleDeploymentDependencies,
    'client' | 'deployments' | 'clock' | 'events' | 'reportHealth'
  > {
  readonly unserved: UnservedDeletions;
}

interface AskContext extends Pick<PhaseContext, 'signal' | 'logger'> {
  readonly memory: DeploymentMemory;
}

/**
 * Finds out whether a process of the class still handles a deletion that it has begun: core writes
 * a condition that such a process replaces with its own within seconds. Returns the milliseconds
 * until the answer counts.
 */
export async function askItsProcess(
  deployment: BundleDeployment,
  dependencies: AskDependencies,
  context: AskContext,
): Promise<number> {
  const { clock, unserved: deletions } = dependencies;
  const { memory } = context;
  const { name = '' } = deployment.metadata;
  const now = clock.monotonic();
  const left = memory.askedAt === undefined ? 0 : memory.askedAt + askedAgain - now;
  if (left > 0) return left;
  memory.askedAt = now;
  const message =
    'core continues the deletion in 30 s, unless a process that serves the class reports it first';
  const blocked = naming(deployment, { reason: progressReason.deleting, message });
  const live = new LiveDeployment(deployment, dependencies, context);
  const state = { deployment: live.object, status: { ...live.object.status }, blocked };
  const status = withSummary(state, progressing(state, clock), dependencies);
  await unlessGone(live.writeStatus(status));
  deletions.forget(name);
  return deletions.remaining(deployment);
}

/**
 * Waits for a process of the class when the deletion has hooks, because only the class can render
 * them. Otherwise reports that core deletes the objects without it.
 */
export async function awaitClassForHooks(
  state: BundleDeploymentState,
  dependencies: Pick<
    BundleDeploymentDependencies,
    'bundles' | 'events' | 'client' | 'defaultDeletionPolicy'
  >,
  { signal }: PhaseContext,
): Promise<Found> {
  const { deployment, status } = state;
  const { bundles, events } = dependencies;
  if (hasHooksToRun(status) && !skipsHooks(state)) {
    const active = ownBundle(deployment, status.activeBundle, bundles);
    const policy = await policyInForce(deployment, dependencies, signal);
    // Orphaned objects keep working: no hook must stop them. Without its content there are none.
    const runs = policy !== 'Orphan' && policy !== 'Abandon' && active !== undefined;
    if (runs && active.metadata.deletionTimestamp === undefined) {
      const message = `only this class can render the hooks of the deletion. Start a process that serves it, or delete without hooks: ${skipCommand(deployment)}`;
      return { blocked: { reason: progressReason.deleting, message }, done: true };
    }
  }
  const { progressing: type } = bundleDeploymentCondition;
  if (findCondition(status.conditions, type) === undefined) {
    const message = `${unserved(deployment)}: core deletes the objects without it`;
    events.event(deployment, { type: 'Warning', reason: 'ClassNotServed', message });
  }
  return {};
}

function hasHooksToRun({ hooks = {} }: BundleDeploymentStatus): boolean {
  const { onDelete = 0, run } = hooks;
  const completed = run?.finishedAt === undefined ? 0 : run.completed;
  return completed < onDelete;
}

/** The message of a blocked deletion, with the missing class. */
export function naming(
  deployment: BundleDeployment,
  blocked: Blocked | undefined,
): Blocked | undefined {
  return blocked && { ...blocked, message: `${unserved(deployment)}: ${blocked.message}` };
}

function unserved({ spec }: BundleDeployment): string {
  return `no process serves class "${spec.provisionerClassName}"`;
}
