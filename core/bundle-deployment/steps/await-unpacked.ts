import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  bundleCondition,
  bundleDeploymentReason as reason,
} from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../runtime/conditions.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { fallBack } from '../hold-up.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';

/**
 * Makes the Bundle of the template the target once it is unpacked; its own events wake the
 * deployment again. One that is slow or fails leaves the active one the target.
 */
export async function awaitUnpacked(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
): Promise<StepOutcome> {
  const { bundle } = state;
  if (bundle === undefined) return 'done';
  const outcome = unpackOutcome(bundle);
  state.status = hasValidBundle(state.status, outcome, dependencies.clock);
  if (outcome.reason === reason.unpackSuccessful && state.holdUp === undefined) {
    state.target = bundle;
    return 'continue';
  }
  // Most Bundles have no phase before they are unpacked: nothing waits that long.
  const isNew = bundle.status?.phase === undefined && state.holdUp === undefined;
  return isNew ? 'done' : fallBack(state, dependencies);
}

interface Outcome {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

function unpackOutcome(bundle: Bundle): Outcome {
  const { name } = bundle.metadata;
  const condition = findCondition(bundle.status?.conditions, bundleCondition.unpacked);
  // A Bundle that is being deleted will come again under the same name: wait for that one.
  const deleting = bundle.metadata.deletionTimestamp !== undefined;
  if (bundle.status?.phase === 'Unpacked' && !deleting) {
    return {
      status: 'True',
      reason: reason.unpackSuccessful,
      message: `Successfully unpacked the ${name} Bundle`,
    };
  }
  if (bundle.status?.phase === 'Failing' && !deleting) {
    return {
      status: 'False',
      reason: reason.unpackFailed,
      message: `Failed to unpack the ${name} Bundle: ${condition?.message ?? ''}`,
    };
  }
  return {
    status: 'True',
    reason: reason.unpackPending,
    message: `Waiting for the ${name} Bundle to be unpacked`,
  };
}
