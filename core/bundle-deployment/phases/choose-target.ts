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
import type { Blocked } from '../../contracts/applier.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { isOwn, ownBundle, ownBundles } from '../bundles.ts';
import type {
  BundleDeploymentDependencies,
  OwnedBundleCache,
  ReconcileDependencies,
} from '../dependencies.ts';
import { createBundle } from '../desired-bundle.ts';
import type { BundleDeploymentState, Found, PhaseContext, Surroundings } from '../phase.ts';
import { boundedHistory, onlyAskedFor, withActive } from '../revisions/history.ts';
import { rolledBack } from '../revisions/progress.ts';
import { hasValidBundle, notObserved } from '../status.ts';

/**
 * Keeps the template's Bundle blocked while it is rolled back. A changed template ends that, and so
 * does a spec that no longer asks for it.
 */
export async function followRollback(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { deployment, bundle } = state;
  const { rollback, ...rest } = onlyAskedFor(state.status, deployment.spec);
  const inForce = rollback?.from === bundle?.metadata.name ? rollback : undefined;
  const asked = { ...rest, ...(inForce !== undefined && { rollback: inForce }) };
  const remembered = withRememberedActive({ ...state, status: asked }, dependencies);
  const status = boundedHistory({ deployment, status: remembered });
  if (inForce === undefined) return { status };
  const blocked = state.blocked ?? rolledBack(deployment, inForce);
  try {
    await restore(inForce.to, { ...state, status }, { dependencies, context });
    return { status, blocked };
  } catch (error) {
    return { status, blocked, error };
  }
}

/** Makes the Bundle that was gone back to once more, as that of the template is, where it is gone. */
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

/** What was installed before there was a history is what the first rollback goes back to. */
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
  context: PhaseContext,
): Promise<Found> {
  const { bundle, blocked } = state;
  if (bundle === undefined) return { done: true };
  const isNew = bundle.status?.phase === undefined && blocked === undefined;
  const left = isNew ? quietTimeLeft(bundle, dependencies) : 0;
  if (left > 0) {
    // Its own event comes first where it is quick, and there is one status to write in all.
    context.wakeAfter(left);
    return { status: notObserved(state), done: true };
  }
  const outcome = unpackOutcome(bundle);
  const status = hasValidBundle(state.status, outcome, dependencies.clock);
  if (outcome.reason === reason.unpackSuccessful && blocked === undefined) {
    return { status, target: bundle };
  }
  return { status, ...fallBack({ ...state, status }, dependencies) };
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

/**
 * Notes why the Bundle of the template is not rolled out now, for the condition Progressing, and goes
 * on with what is installed: its drift is repaired however long the new one waits.
 */
export function block(
  state: BundleDeploymentState,
  dependencies: Pick<BundleDeploymentDependencies, 'bundles'>,
  because: Blocked,
): Found {
  return { blocked: state.blocked ?? because, ...fallBack(state, dependencies) };
}

/** Makes the active Bundle the one to apply; ends the reconcile where there is none to apply. */
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
 * What is installed, where its Bundle is gone and its content is not: one that has come under its
 * name since may have other content, and does not take its place before it is unpacked.
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
