import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  bundleCondition,
  bundleDeploymentReason as reason,
} from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { fallBack } from '../hold-up.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { hasValidBundle, notObserved } from '../status.ts';

/** Milliseconds in which most Bundles are unpacked. */
const quickUnpack = 2_000;

/** Milliseconds for which a Bundle of this process may say nothing: it says so itself once it is slow. */
const longWait = 30_000;

/** Milliseconds that the API server's clock may be before ours; it knows whole seconds. */
const clockSkew = 1_000;

/**
 * Makes the Bundle of the template the target once it is unpacked; its own events wake the
 * deployment again. One that is slow or fails leaves the active one the target.
 */
export async function awaitUnpacked(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { bundle } = state;
  if (bundle === undefined) return 'done';
  const isNew = bundle.status?.phase === undefined && state.holdUp === undefined;
  const left = isNew ? quietTimeLeft(bundle, dependencies) : 0;
  if (left > 0) {
    // Its own event comes first where it is quick, and there is one status to write in all.
    state.status = notObserved(state);
    context.wakeAfter(left);
    return 'done';
  }
  const outcome = unpackOutcome(bundle);
  state.status = hasValidBundle(state.status, outcome, dependencies.clock);
  if (outcome.reason === reason.unpackSuccessful && state.holdUp === undefined) {
    state.target = bundle;
    return 'continue';
  }
  return fallBack(state, dependencies);
}

/** Milliseconds for which a Bundle without a phase is not told of; 0 where the clocks differ. */
function quietTimeLeft(
  { metadata, spec }: Bundle,
  { clock, bundleClasses }: Pick<BundleDeploymentDependencies, 'clock' | 'bundleClasses'>,
): number {
  const limit = bundleClasses.has(spec.provisionerClassName) ? longWait : quickUnpack;
  const age = clock.now() - (Date.parse(metadata.creationTimestamp ?? '') || 0);
  return age < -clockSkew ? 0 : Math.max(0, limit - age);
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
