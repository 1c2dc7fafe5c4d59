import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { skipCommand } from '../hooks/hook-run.ts';
import { skipsHooks } from '../hooks/pending-operation.ts';
import { ownBundle } from '../own-bundles.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

const reasons: ReadonlySet<string> = new Set([
  progressReason.deleting,
  progressReason.waitingForDependents,
]);

/** True where a process that serves the class is at the deletion: it says what it waits for. */
export function isDeletedElsewhere(deployment: BundleDeployment): boolean {
  const { progressing } = bundleDeploymentCondition;
  const told = findCondition(deployment.status?.conditions, progressing);
  if (told === undefined || !reasons.has(told.reason)) return false;
  return !told.message.startsWith(unserved(deployment));
}

/**
 * Waits for a process of the class where the deletion has hooks, which only the class can make. Tells
 * that objects are deleted without it.
 */
export async function awaitClassForHooks(
  state: BundleDeploymentState,
  { bundles, events }: Pick<BundleDeploymentDependencies, 'bundles' | 'events'>,
): Promise<StepOutcome> {
  const { deployment, status } = state;
  if (status.hooks?.onDelete !== undefined && !skipsHooks(state)) {
    const active = ownBundle(deployment, status.activeBundle, bundles);
    // Without its content there are no hooks any more.
    if (active !== undefined && active.metadata.deletionTimestamp === undefined) {
      const message = `it has hooks that run before or after it. Start a process of the class, or go on without them: ${skipCommand(deployment)}`;
      state.holdUp = { reason: progressReason.deleting, message };
      return 'done';
    }
  }
  const { progressing } = bundleDeploymentCondition;
  if (findCondition(status.conditions, progressing) === undefined) {
    const message = `${unserved(deployment)}: core deletes the objects of the BundleDeployment in its place`;
    events.event(deployment, { type: 'Warning', reason: 'ClassNotServed', message });
  }
  return 'continue';
}

/** What holds a deletion up where the class has no process, told with that. */
export function nameUnserved(state: BundleDeploymentState): void {
  const { deployment, holdUp } = state;
  if (holdUp === undefined) return;
  state.holdUp = { ...holdUp, message: `${unserved(deployment)}: ${holdUp.message}` };
}

function unserved({ spec }: BundleDeployment): string {
  return `no process serves class "${spec.provisionerClassName}"`;
}
