import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  bundleCondition,
  bundleDeploymentCondition,
  bundleDeploymentReason as reason,
} from '../../../api/v1alpha1/conditions.ts';
import type { HoldUp } from '../../contracts/applier.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { isOwn, ownBundle, ownBundles } from '../bundles.ts';
import type {
  BundleDeploymentDependencies,
  OwnedBundleCache,
  ReconcileDependencies,
} from '../dependencies.ts';
import { createBundle } from '../desired-bundle.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../phase.ts';
import { boundedHistory, onlyAskedFor, withActive } from '../revisions/history.ts';
import { rolledBack } from '../revisions/progress.ts';
import { hasValidBundle, notObserved } from '../status.ts';

/**
 * Keeps the template's Bundle held up while it is rolled back. A changed template ends that, and so
 * does a spec that no longer asks for it.
 */
export async function followRollback(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment, bundle } = state;
  const { rollback, ...rest } = onlyAskedFor(state.status, deployment.spec);
  const inForce = rollback?.from === bundle?.metadata.name ? rollback : undefined;
  state.status = { ...rest, ...(inForce !== undefined && { rollback: inForce }) };
  rememberActive(state, dependencies);
  state.status = boundedHistory(state);
  if (inForce === undefined) return 'continue';
  state.holdUp ??= rolledBack(deployment, inForce);
  await restore(inForce.to, state, { dependencies, context });
  return 'continue';
}

/** Makes the Bundle that was gone back to once more, as that of the template is, where it is gone. */
async function restore(
  name: string,
  { deployment, status }: BundleDeploymentState,
  { dependencies, context }: { dependencies: ReconcileDependencies; context: StepContext },
): Promise<void> {
  const owned = ownBundles(deployment, dependencies.bundles);
  const revision = status.history?.find(({ bundle }) => bundle === name);
  if (revision === undefined || owned.some(({ metadata }) => metadata.name === name)) return;
  const { template } = revision;
  const earlier = { ...deployment, spec: { ...deployment.spec, template } };
  await createBundle(earlier, dependencies, context);
}

/** What was installed before there was a history is what the first rollback goes back to. */
function rememberActive(
  state: BundleDeploymentState,
  { bundles, reportHealth }: ReconcileDependencies,
): void {
  const { deployment, status } = state;
  const active = ownBundle(deployment, status.activeBundle, bundles);
  const { healthy, installed } = bundleDeploymentCondition;
  if (active === undefined) return;
  state.status = withActive(state, active, reportHealth ? healthy : installed);
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

/**
 * Notes why the Bundle of the template is not brought out now, for the condition Progressing, and
 * goes on with what is installed: its drift is repaired however long the new one waits.
 */
export function holdUp(
  state: BundleDeploymentState,
  dependencies: Pick<BundleDeploymentDependencies, 'bundles'>,
  because: HoldUp,
): StepOutcome {
  state.holdUp ??= because;
  return fallBack(state, dependencies);
}

/** Makes the active Bundle the one to apply; ends the reconcile where there is none to apply. */
export function fallBack(
  state: BundleDeploymentState,
  { bundles }: Pick<BundleDeploymentDependencies, 'bundles'>,
): StepOutcome {
  const { activeBundle, rollback } = state.status;
  const name = rollback?.to ?? activeBundle;
  const target = keptBundle(state, bundles) ?? unpackedBundle(state.deployment, name, bundles);
  if (target === undefined) return 'done';
  state.target = target;
  return 'continue';
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
