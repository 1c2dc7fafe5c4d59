import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { policyInForce } from '../deletion/policy-in-force.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { ownBundle } from '../own-bundles.ts';
import type { BundleDeploymentState } from '../state.ts';
import { loadObjects } from '../steps/load-objects.ts';
import { skipsHooks } from './pending-operation.ts';
import type { HookSurroundings } from './run-event.ts';

/** The API server's, while the garbage collector deletes everything of the deployment first. */
const foregroundDeletion = 'foregroundDeletion';

/**
 * Has the hooks of a deletion in the state where there are any to run; says whether there are.
 * Nothing is asked for where the deployment has none. What cannot be had any more is told of, and
 * given up: the deletion must come to an end.
 */
export async function loadDeleteHooks(
  state: BundleDeploymentState,
  { dependencies, context }: HookSurroundings,
): Promise<boolean> {
  if (state.status.hooks?.onDelete === undefined) return false;
  const { deployment } = state;
  const policy = await policyInForce(deployment, dependencies, context.signal);
  // What stays goes on working: it is not to be taken down.
  if (policy === 'Orphan' || policy === 'Abandon' || skipsHooks(state)) return forgetHooks(state);
  const active = activeBundle(state, dependencies);
  const why = whyNot(state, active);
  if (active === undefined || why !== undefined) {
    const message = `the hooks of the deletion do not run: ${why}`;
    dependencies.events.event(deployment, { type: 'Warning', reason: 'HooksSkipped', message });
    return forgetHooks(state);
  }
  state.target = active;
  const { status } = state;
  try {
    await loadObjects(state, dependencies, context);
  } finally {
    // What it says of the Bundle is no news any more.
    state.status = status;
  }
  return true;
}

function whyNot(
  { deployment, status }: BundleDeploymentState,
  active: Bundle | undefined,
): string | undefined {
  if (deployment.metadata.finalizers?.includes(foregroundDeletion) === true) {
    return 'it is deleted in the foreground, which deletes its Bundles and every object of a hook first';
  }
  return active === undefined
    ? `Bundle "${status.activeBundle}", which has them, is gone`
    : undefined;
}

function activeBundle(
  { deployment, status }: BundleDeploymentState,
  { bundles }: Pick<ReconcileDependencies, 'bundles'>,
): Bundle | undefined {
  const active = ownBundle(deployment, status.activeBundle, bundles);
  return active?.metadata.deletionTimestamp === undefined ? active : undefined;
}

/** So that what was decided once is not asked again. */
function forgetHooks(state: BundleDeploymentState): false {
  const { hooks: _, ...status } = state.status;
  state.status = status;
  return false;
}
