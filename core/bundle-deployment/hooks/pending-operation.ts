import { annotation } from '../../../api/v1alpha1/labels.ts';
import { notedValue } from '../../../api/v1alpha1/noted-value.ts';
import { isUnchanged } from '../drift-condition.ts';
import type { BundleDeploymentState } from '../state.ts';

type HookedState = Pick<
  BundleDeploymentState,
  'deployment' | 'status' | 'target' | 'kept' | 'hooks' | 'revision'
>;

/**
 * For which of the two the hooks of the target are due; undefined where what was applied completely
 * last is only kept in place, and for the way back of a rollback, which has no hooks in Helm either.
 */
export function pendingOperation(state: HookedState): 'install' | 'upgrade' | undefined {
  const { status, hooks = [] } = state;
  if (hooks.length === 0 || skipsHooks(state)) return undefined;
  if ((status.activeBundle ?? '') === '') return firstOperation(state);
  return isWayBack(state) || isKept(state) ? undefined : 'upgrade';
}

/** A restore may have lost the status, but not what core noted on the deployment itself. */
function firstOperation({ deployment, revision }: HookedState): 'install' | 'upgrade' | undefined {
  const applied = notedValue(deployment.metadata, annotation.hooksApplied);
  if (applied === undefined) return 'install';
  return applied === revision ? undefined : 'upgrade';
}

/** Whether people want the deployment's hooks not to run. */
export function skipsHooks({ deployment }: Pick<BundleDeploymentState, 'deployment'>): boolean {
  return deployment.metadata.annotations?.[annotation.skipHooks] === 'true';
}

function isWayBack({ status: { rollback }, target }: HookedState): boolean {
  return rollback !== undefined && rollback.to === target?.metadata.name;
}

function isKept(state: HookedState): boolean {
  const { applied, run } = state.status.hooks ?? {};
  if (applied !== undefined) return applied === state.revision;
  // Nobody noted what was applied before there were hooks.
  return run === undefined && isUnchanged(state);
}
