import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import type { ApplyResult } from '../../contracts/applier.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { isUnchanged, withDrift } from '../drift-condition.ts';
import { measureApply } from '../measure-apply.ts';
import { withBegun } from '../revisions/progress.ts';
import { withApplied } from '../revisions/record.ts';
import { stagesWait } from '../stage-waits.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { installed, notInstalled, withHeldPrune } from '../status.ts';

/** Brings the cluster to the target's objects. The last good Bundle stays active on a failure. */
export async function apply(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { clock, reportHealth } = dependencies;
  const { target, objects } = state;
  if (target === undefined || objects === undefined) return 'done';
  state.status = withBegun(state, clock);
  try {
    const result = await applyObjects({ ...state, objects }, dependencies, context);
    if (!noteResult(state, result, dependencies)) return 'done';
  } catch (error) {
    const { signal } = context;
    if (signal.aborted) throw error;
    const failure = {
      reason: failureReason(error, state),
      message: errorMessage(error),
      reportHealth,
    };
    state.status = notInstalled(state.status, failure, clock);
    // A refused apply is tried again: what stood in its way may be removed without our seeing it.
    throw new Error(failure.message, { cause: error });
  }
  state.status = installed(state.status, target.metadata.name ?? '', clock);
  state.status = withApplied(state, clock);
  return 'continue';
}

async function applyObjects(
  state: BundleDeploymentState & Required<Pick<BundleDeploymentState, 'objects'>>,
  dependencies: BundleDeploymentDependencies,
  { signal, logger }: StepContext,
): Promise<ApplyResult> {
  const { deployment: owner, target, objects, ordered = false } = state;
  const waitForReady = stagesWait(state);
  const unchanged = isUnchanged(state);
  const request = { owner, objects, ordered, waitForReady, unchanged, signal };
  const run = () => dependencies.applier.apply(request);
  const result = await measureApply(state, dependencies, run);
  const { changes } = result;
  if (changes > 0) logger.info({ bundle: target?.metadata.name, changes }, 'objects applied');
  return result;
}

/** Puts what came of it into the status; true where everything is applied. */
function noteResult(
  state: BundleDeploymentState,
  { complete, holdUp, heldPrune, drifted }: ApplyResult,
  { clock, reportHealth }: Pick<BundleDeploymentDependencies, 'clock' | 'reportHealth'>,
): boolean {
  state.holdUp ??= holdUp;
  state.status = withDrift(state.status, drifted, clock);
  if (complete) state.status = withHeldPrune(state.status, heldPrune);
  else if (holdUp !== undefined) {
    state.status = notInstalled(state.status, { ...holdUp, reportHealth }, clock);
  }
  return complete;
}

function failureReason(error: unknown, { status }: BundleDeploymentState): string {
  if (error instanceof TerminalError && error.reason !== undefined) return error.reason;
  return status.activeBundle === undefined
    ? bundleDeploymentReason.installFailed
    : bundleDeploymentReason.upgradeFailed;
}
