import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { isAboutMissing } from '../../apply/index.ts';
import type { ApplyResult } from '../../contracts/applier.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AppliedSet, ApplyMetrics } from '../../platform/observe/index.ts';
import { statusPatch } from '../../platform/runtime/index.ts';
import type { BundleDeploymentDependencies, ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  longestWait,
  type StepContext,
  type StepOutcome,
} from '../phase.ts';
import { withBegun } from '../revisions/progress.ts';
import {
  installFailure,
  isUnchanged,
  notInstalled,
  originOf,
  stagesWait,
  withDrift,
  withFinished,
  withHeldPrune,
} from '../status.ts';
import { askedDeletions, withSuperseded } from './note-installed.ts';

const shortestWait = 1_000;

/** Gives the objects the certificates that they are annotated to have. */
export async function certify(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal, wakeAfter }: StepContext,
): Promise<StepOutcome> {
  const { certificates, clock } = dependencies;
  const { deployment, objects } = state;
  if (objects === undefined) return 'continue';
  try {
    const certified = await certificates.certify({ deployment, objects, signal });
    state.uncertified = objects;
    state.objects = certified.objects;
    state.rotating = certified.isRotating === true;
    if (certified.nextStepAt !== undefined) wakeAfter(waitUntil(certified.nextStepAt, clock));
    return 'continue';
  } catch (error) {
    // What is wrong with the connection says nothing of the deployment.
    if (!isNews(error)) throw error;
    // Nobody tells when the provider of certificates has come.
    if (error instanceof WaitingError) wakeAfter(longestWait);
    throw installFailure(state, error, dependencies);
  }
}

/** Notes that all objects have what they were given; reached only once all are applied. */
export async function noteCertified(
  { deployment, uncertified }: BundleDeploymentState,
  { certificates, clock }: ReconcileDependencies,
  { wakeAfter }: StepContext,
): Promise<StepOutcome> {
  if (uncertified === undefined) return 'continue';
  const at = certificates.applied({ deployment, objects: uncertified });
  if (at !== undefined) wakeAfter(waitUntil(at, clock));
  return 'continue';
}

function isNews(error: unknown): boolean {
  return error instanceof TerminalError || error instanceof WaitingError;
}

/** Milliseconds: whatever the clock does, one deployment must not keep a worker busy. */
function waitUntil(at: number, clock: Clock): number {
  return Math.max(shortestWait, at - clock.now());
}

/** Notes what is about to be applied, and where: from here on it may be there in part. */
export async function noteBegun(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment, recipe } = state;
  const { lastApplied, systemNamespace } = dependencies;
  if (recipe !== undefined) lastApplied.begin(deployment, recipe);
  const installNamespace = installNamespaceOf(deployment, systemNamespace);
  state.status = { ...state.status, installNamespace };
  await noteSuperseded(state, dependencies, context);
  return 'continue';
}

/**
 * Written before the first object is: a crash amid an upgrade would forget it, and when somebody takes
 * the upgrade back, core would not know who asked for the deletions.
 */
async function noteSuperseded(
  state: BundleDeploymentState,
  { client, deployments }: Pick<ReconcileDependencies, 'client' | 'deployments'>,
  { signal }: StepContext,
): Promise<void> {
  state.status = withSuperseded(state);
  const { deployment, status } = state;
  if (status.applied?.superseded !== true || deployment.status?.applied?.superseded === true) {
    return;
  }
  const patch = statusPatch(deployment, { ...deployment.status, applied: status.applied });
  if (patch === undefined) return;
  const target = {
    resource: bundleDeploymentResource,
    key: { name: deployment.metadata.name ?? '' },
  };
  const options = { type: 'json', subresource: 'status', signal } as const;
  state.deployment = (await client.patch(target, patch, options)) as BundleDeployment;
  deployments.upsertIfNewer(state.deployment);
}

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

interface MeasuredBy {
  readonly clock: Clock;
  readonly metrics?: Pick<ApplyMetrics, 'applied' | 'changed'> | undefined;
}

/** Runs an apply and tells what it was for, how long it took and what it changed. */
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
