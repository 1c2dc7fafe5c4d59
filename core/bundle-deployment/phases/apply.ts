import { isAboutMissing } from '../../apply/index.ts';
import type { ApplyRequest, ApplyResult, RememberedResult } from '../../contracts/applier.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AppliedSet, ApplyMetrics } from '../../platform/observe/index.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  longestWait,
  mustNotBeTold,
  type PhaseContext,
  standsIn,
} from '../phase.ts';
import { isUnchanged, stagesWait } from '../rendering/applied-content.ts';
import { Beginning } from '../revisions/beginning.ts';
import { withBegun } from '../revisions/progress.ts';
import {
  installFailure,
  notInstalled,
  originOf,
  withDrift,
  withFinished,
  withGroupKinds,
  withHeldPrune,
} from '../status.ts';
import { askedDeletions, withWaitingDeletions } from './note-installed.ts';

const shortestWait = 1_000;

/** Adds the certificates that the objects' annotations ask for. */
export async function certify(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal, wakeAfter }: PhaseContext,
): Promise<Found> {
  const { certificates, clock } = dependencies;
  const { deployment, objects } = state;
  if (objects === undefined) return {};
  try {
    const certified = await certificates.certify({ deployment, objects, signal });
    const { nextStepAt, isRotating: rotating = false } = certified;
    if (nextStepAt !== undefined) wakeAfter(waitUntil(nextStepAt, clock));
    return { uncertified: objects, objects: certified.objects, rotating };
  } catch (error) {
    // A connection problem is not news about the deployment.
    if (!isNews(error)) throw error;
    // The arrival of the certificate provider sends no event.
    if (error instanceof WaitingError) wakeAfter(longestWait);
    return installFailure(state, error, dependencies);
  }
}

/** Records that all objects have their certificates; runs only after all are applied. */
export async function noteCertified(
  { deployment, uncertified }: BundleDeploymentState,
  { certificates, clock }: ReconcileDependencies,
  { wakeAfter }: PhaseContext,
): Promise<Found> {
  if (uncertified === undefined) return {};
  const at = certificates.applied({ deployment, objects: uncertified });
  if (at !== undefined) wakeAfter(waitUntil(at, clock));
  return {};
}

function isNews(error: unknown): boolean {
  return error instanceof TerminalError || error instanceof WaitingError;
}

/**
 * Milliseconds, with a minimum: whatever the clock does, one deployment must not keep a worker
 * busy.
 */
function waitUntil(at: number, clock: Clock): number {
  return Math.max(shortestWait, at - clock.now());
}

/** Applies the target's objects. The last good Bundle stays active after a failure. */
export async function apply(
  before: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { target, objects } = before;
  if (target === undefined || objects === undefined) return { done: true };
  const state = { ...before, objects, status: withBegun(before, dependencies, context) };
  const beginning = new Beginning(state, dependencies, context);
  const begin = async () => await beginning.note();
  let remembered: RememberedResult = {};
  const remember = (found: RememberedResult): void => {
    remembered = found;
  };
  try {
    const request = { ...state, remember, begin };
    const result = await applyObjects(request, dependencies, context);
    if (result.complete && result.heldPrune !== undefined) lookAgain(state, dependencies, context);
    return foundBy(result, { ...state, status: beginning.status }, dependencies);
  } catch (error) {
    if (mustNotBeTold(error, context.signal)) throw error;
    // The creation of a missing namespace or kind sends no event.
    if (isAboutMissing(error)) context.wakeAfter(longestWait);
    return beginning.failure(error, (status) => withRemembered({ ...state, status }, remembered));
  }
}

/** The status after an apply that failed. */
function withRemembered(
  state: BundleDeploymentState,
  { groupKinds, askedDeletions: waiting }: RememberedResult,
): BundleDeploymentState['status'] {
  const status = withGroupKinds(state.status, groupKinds);
  return waiting === undefined ? status : withWaitingDeletions({ ...state, status }, waiting);
}

async function applyObjects(
  state: BundleDeploymentState &
    Required<Pick<BundleDeploymentState, 'objects'>> &
    Required<Pick<ApplyRequest, 'remember' | 'begin'>>,
  dependencies: ReconcileDependencies,
  { signal, logger }: PhaseContext,
): Promise<ApplyResult> {
  const { deployment: owner, target, objects, leftOut = [], hooks = [], remember, begin } = state;
  const waitForReady = stagesWait(state);
  const unchanged = isUnchanged(state) && state.rotating !== true;
  const extra = { standsIn: standsIn(state), ...askedDeletions(state), ...originOf(state) };
  const content = { owner, objects, leftOut, hooks };
  const request = { ...content, waitForReady, unchanged, remember, begin, signal, ...extra };
  const run = () => dependencies.applier.apply(request);
  const result = await measureApply(state, dependencies, run);
  const { changes } = result;
  if (changes > 0) logger.info({ bundle: target?.metadata.name, changes }, 'objects applied');
  return result;
}

/** Missing facts may return without an event: discovery is not watched. */
function lookAgain(
  { recipe }: BundleDeploymentState,
  { facts }: BundleDeploymentDependencies,
  { wakeAfter }: PhaseContext,
): void {
  if (recipe?.facts.cluster === undefined) return;
  facts.renew();
  wakeAfter(longestWait);
}

/** The findings of an apply; the reconcile continues only when everything is applied. */
function foundBy(
  result: ApplyResult,
  state: BundleDeploymentState,
  { clock, reportHealth }: Pick<BundleDeploymentDependencies, 'clock' | 'reportHealth'>,
): Found {
  const { complete, blocked, heldPrune, askedDeletions: waiting } = result;
  const drift = withDrift(state.status, result.drifted, clock);
  const finished = withFinished({ ...state, status: drift }, result.finished);
  const status = withGroupKinds(finished, result.groupKinds);
  const found = { blocked: state.blocked ?? blocked, settled: complete && blocked === undefined };
  if (complete) {
    // What waits to be confirmed has not been looked at.
    const held = standsIn(state) ? status : withHeldPrune(status, heldPrune);
    return { ...found, status: withWaitingDeletions({ ...state, status: held }, waiting) };
  }
  if (blocked === undefined) return { ...found, status, done: true };
  const failure = { ...blocked, reportHealth };
  return { ...found, status: notInstalled(status, failure, clock), done: true };
}

interface MeasuredBy {
  readonly clock: Clock;
  readonly metrics?: Pick<ApplyMetrics, 'applied' | 'changed'> | undefined;
}

/** Runs an apply and records its purpose, duration and changes as metrics. */
export async function measureApply(
  state: BundleDeploymentState,
  { clock, metrics }: MeasuredBy,
  run: () => Promise<ApplyResult>,
): Promise<ApplyResult> {
  const operation = operationOf(state);
  const startedAt = clock.monotonic();
  const applied = (outcome: AppliedSet['outcome']): void =>
    metrics?.applied({ operation, outcome, seconds: (clock.monotonic() - startedAt) / 1000 });
  try {
    const result = await run();
    metrics?.changed(operation, result.changes);
    applied('success');
    return result;
  } catch (error) {
    applied('error');
    throw error;
  }
}

function operationOf({ deployment, target }: BundleDeploymentState): AppliedSet['operation'] {
  const { activeBundle = '' } = deployment.status ?? {};
  if (activeBundle === '') return 'install';
  return activeBundle === target?.metadata.name ? 'reconcile' : 'upgrade';
}
