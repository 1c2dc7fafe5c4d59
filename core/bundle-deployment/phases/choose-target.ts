import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleCondition,
  bundleDeploymentCondition,
  bundleDeploymentReason as reason,
} from '../../../api/v1alpha1/conditions.ts';
import type { RollbackStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { isOwn } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import type { Blocked } from '../../contracts/applier.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { ownBundle, ownBundles } from '../bundles.ts';
import type {
  BundleDeploymentDependencies,
  OwnedBundleCache,
  ReconcileDependencies,
} from '../dependencies.ts';
import { createBundle } from '../desired-bundle.ts';
import type { BundleDeploymentState, Found, PhaseContext, Surroundings } from '../phase.ts';
import { isHalfApplied } from '../revisions/begun.ts';
import { boundedHistory, onlyAskedFor, withActive } from '../revisions/history.ts';
import { rollingBack } from '../revisions/rollback.ts';
import { hasValidBundle, notObserved } from '../status.ts';

/**
 * Keeps the template's Bundle blocked while a rollback is in force. A changed template ends the
 * rollback, and so does a spec without spec.rollback. One that is not completed goes on until the
 * Bundle of the changed template is applied: the active Bundle is the one that was not healthy.
 */
export async function followRollback(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { deployment, bundle } = state;
  const { rollback: _, ...rest } = onlyAskedFor(state.status, deployment.spec);
  const rollback = dueRollback(state);
  const asked = { ...rest, ...(rollback && { rollback }) };
  const remembered = withRememberedActive({ ...state, status: asked }, dependencies);
  const status = boundedHistory({ deployment, status: remembered });
  if (rollback === undefined) return { status };
  const isInForce = rollback.from === bundle?.metadata.name;
  const blocked = isInForce ? (state.blocked ?? rollingBack(deployment, rollback)) : state.blocked;
  try {
    await restore(rollback.to, { ...state, status }, { dependencies, context });
    return { status, blocked };
  } catch (error) {
    return { status, blocked, error };
  }
}

/** The rollback in force, or one that is not completed yet. */
function dueRollback({
  deployment,
  bundle,
  status,
}: BundleDeploymentState): RollbackStatus | undefined {
  const { rollback, activeBundle } = onlyAskedFor(status, deployment.spec);
  const isInForce = rollback?.from === bundle?.metadata.name;
  return isInForce || rollback?.to !== activeBundle ? rollback : undefined;
}

/** Recreates the Bundle of the rollback from its template in the history, when it was deleted. */
async function restore(
  name: string,
  { deployment, status }: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<void> {
  const owned = ownBundles(deployment, dependencies.bundles);
  const revision = status.history?.find(({ bundle }) => bundle === name);
  if (revision === undefined || owned.some(({ metadata }) => metadata.name === name)) return;
  const { template } = revision;
  const earlier = { ...deployment, spec: { ...deployment.spec, template } };
  await createBundle(earlier, dependencies, context);
}

/** A Bundle installed before there was a history is the target of the first rollback. */
function withRememberedActive(
  state: BundleDeploymentState,
  { bundles, reportHealth }: ReconcileDependencies,
): BundleDeploymentStatus {
  const { deployment, status } = state;
  const active = ownBundle(deployment, status.activeBundle, bundles);
  const { healthy, installed } = bundleDeploymentCondition;
  return active === undefined
    ? status
    : withActive(state, active, reportHealth ? healthy : installed);
}

/** Milliseconds within which most Bundles are unpacked. */
const quickUnpack = 2_000;

/**
 * Milliseconds without a phase after which a Bundle counts as slow; a slow unpack of this process
 * reports itself.
 */
const longWait = 30_000;

/** Milliseconds by which the API server's clock may be ahead; it writes whole seconds. */
const clockSkew = 1_000;

/**
 * Makes the template's Bundle the target once it is unpacked; its events wake the deployment again.
 * The active Bundle stays the target while it is slow, fails or is blocked, unless it is applied in
 * part already.
 */
export async function awaitUnpacked(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { bundle, blocked } = state;
  if (bundle === undefined) return { done: true };
  const isNew = bundle.status?.phase === undefined && blocked === undefined;
  const left = isNew ? quietTimeLeft(bundle, dependencies) : 0;
  if (left > 0) {
    // A quick Bundle's own event comes first, so that one status write is enough.
    context.wakeAfter(left);
    return { status: notObserved(state), done: true };
  }
  const outcome = unpackOutcome(bundle);
  const status = hasValidBundle(state.status, outcome, dependencies.clock);
  if (outcome.reason === reason.unpackSuccessful && blocked === undefined) {
    return { status, target: bundle };
  }
  if (isHalfApplied(state, dependencies)) return { status, done: true };
  return { status, ...fallBack({ ...state, status }, dependencies) };
}

/**
 * Milliseconds for which core does not report a Bundle without a phase; 0 when the clocks differ.
 */
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
  // A Bundle that is being deleted will be recreated with the same name: wait for the new one.
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

/**
 * Records for the condition Progressing why the template's Bundle is not rolled out now, and
 * continues with the installed one: its drift is repaired however long the new one waits.
 */
export function block(
  state: BundleDeploymentState,
  dependencies: Pick<BundleDeploymentDependencies, 'bundles'>,
  because: Blocked,
): Found {
  return { blocked: state.blocked ?? because, ...fallBack(state, dependencies) };
}

/** Makes the active Bundle the target; ends the reconcile when there is none. */
export function fallBack(
  state: BundleDeploymentState,
  { bundles }: Pick<BundleDeploymentDependencies, 'bundles'>,
): Pick<Found, 'target' | 'done'> {
  const { activeBundle, rollback } = state.status;
  const name = rollback?.to ?? activeBundle;
  const target = keptBundle(state, bundles) ?? unpackedBundle(state.deployment, name, bundles);
  return target === undefined ? { done: true } : { target };
}

/**
 * The installed Bundle, when it was deleted and its content is kept. A new Bundle of its name may
 * have other content, and replaces it only after it is unpacked.
 */
export function keptBundle(
  { deployment, status }: BundleDeploymentState,
  bundles: Pick<OwnedBundleCache, 'kept'>,
): Bundle | undefined {
  const { activeBundle = '', rollback, applied } = status;
  const kept = bundles.kept(rollback?.to ?? activeBundle);
  if (kept === undefined || !isOwn(kept, deployment)) return undefined;
  return applied === undefined || applied.uid === kept.metadata.uid ? kept : undefined;
}

function unpackedBundle(
  deployment: BundleDeployment,
  name: string | undefined,
  bundles: Pick<OwnedBundleCache, 'ownedBy'>,
): Bundle | undefined {
  const bundle = ownBundle(deployment, name, bundles);
  const isHere = bundle?.metadata.deletionTimestamp === undefined;
  return isHere && bundle?.status?.phase === 'Unpacked' ? bundle : undefined;
}
