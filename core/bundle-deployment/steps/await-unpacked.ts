import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  bundleCondition,
  bundleDeploymentReason as reason,
} from '../../../api/v1alpha1/conditions.ts';
import { findCondition } from '../../runtime/conditions.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';
import { hasValidBundle } from '../status.ts';

/** Goes on only with an unpacked Bundle; the Bundle's own events wake the deployment again. */
export async function awaitUnpacked(
  state: BundleDeploymentState,
  { clock }: BundleDeploymentDependencies,
): Promise<StepOutcome> {
  const { bundle } = state;
  if (bundle === undefined) return 'done';
  const outcome = unpackOutcome(bundle);
  state.status = hasValidBundle(state.status, outcome, clock);
  return outcome.reason === reason.unpackSuccessful ? 'continue' : 'done';
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
