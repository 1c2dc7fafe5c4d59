import { isAboutMissing } from '../../apply/index.ts';
import type { ApplyResult } from '../../contracts/applier.ts';
import { askedDeletions } from '../applied-rendering.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { isUnchanged, withDrift } from '../drift-condition.ts';
import { originOf, withFinished } from '../finished.ts';
import { installFailure } from '../install-failure.ts';
import { longestWait } from '../longest-wait.ts';
import { measureApply } from '../measure-apply.ts';
import { withBegun } from '../revisions/progress.ts';
import { stagesWait } from '../stage-waits.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';
import { notInstalled, withHeldPrune } from '../status.ts';

/** Brings the cluster to the target's objects. The last good Bundle stays active on a failure. */
export async function apply(
  state: BundleDeploymentState,
  dependencies: BundleDeploymentDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { clock } = dependencies;
  const { target, objects } = state;
  if (target === undefined || objects === undefined) return 'done';
  state.status = withBegun(state, clock);
  try {
    const result = await applyObjects({ ...state, objects }, dependencies, context);
    if (!noteResult(state, result, dependencies)) return 'done';
    if (result.heldPrune !== undefined) lookAgain(state, dependencies, context);
  } catch (error) {
    const { signal } = context;
    if (signal.aborted) throw error;
    // A namespace or a kind that somebody is about to make: nobody tells when it is there.
    if (isAboutMissing(error)) context.wakeAfter(longestWait);
    throw installFailure(state, error, dependencies);
  }
  return 'continue';
}

async function applyObjects(
  state: BundleDeploymentState & Required<Pick<BundleDeploymentState, 'objects'>>,
  dependencies: BundleDeploymentDependencies,
  { signal, logger }: StepContext,
): Promise<ApplyResult> {
  const { deployment: owner, target, objects, hooks = [] } = state;
  const waitForReady = stagesWait(state);
  const unchanged = isUnchanged(state) && state.rotating !== true;
  const extra = { ...askedDeletions(state), ...originOf(state) };
  const request = { owner, objects, hooks, waitForReady, unchanged, signal, ...extra };
  const run = () => dependencies.applier.apply(request);
  const result = await measureApply(state, dependencies, run);
  const { changes } = result;
  if (changes > 0) logger.info({ bundle: target?.metadata.name, changes }, 'objects applied');
  return result;
}

/** Facts that are missing now may come back, and nobody tells: discovery is not watched. */
function lookAgain(
  { recipe }: BundleDeploymentState,
  { facts }: BundleDeploymentDependencies,
  { wakeAfter }: StepContext,
): void {
  if (recipe?.facts.cluster === undefined) return;
  facts.renew();
  wakeAfter(longestWait);
}

/** Puts what came of it into the status; true where everything is applied. */
function noteResult(
  state: BundleDeploymentState,
  { complete, holdUp, heldPrune, drifted, finished }: ApplyResult,
  { clock, reportHealth }: Pick<BundleDeploymentDependencies, 'clock' | 'reportHealth'>,
): boolean {
  state.holdUp ??= holdUp;
  state.settled = complete && holdUp === undefined;
  state.status = withDrift(state.status, drifted, clock);
  state.status = withFinished(state, finished);
  if (complete) state.status = withHeldPrune(state.status, heldPrune);
  else if (holdUp !== undefined) {
    state.status = notInstalled(state.status, { ...holdUp, reportHealth }, clock);
  }
  return complete;
}
