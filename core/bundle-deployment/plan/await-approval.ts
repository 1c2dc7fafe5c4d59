import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { ApprovalStatus, PlanStatus } from '../../../api/v1alpha1/deployment-plan.ts';
import { renderingOf } from '../../apply/index.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import { ownBundle } from '../bundles.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { KnownPlan } from '../memory.ts';
import type { BundleDeploymentState, Found, PhaseContext, Surroundings } from '../phase.ts';
import { fallBack } from '../phases/choose-target.ts';
import { isHalfApplied } from '../revisions/begun.ts';
import { isOnWayBack, unapprovedRollback } from '../revisions/rollback.ts';
import { notInstalled } from '../status.ts';
import {
  approvalOf,
  approved,
  approvedContent,
  askedDigest,
  isApproved,
  isMadeAgain,
  isOfFormer,
  isRepairable,
} from './approval.ts';
import { currentPlan, isApproval } from './current-plan.ts';
import { planMessage } from './full-plan.ts';
import { contentOf, loadContent } from './make-plan.ts';

/**
 * With upgradePolicy Manual, passes only approved content; for anything else core makes a plan and
 * blocks. Core writes an approval into the status before the next reconcile acts on it, so that an
 * interrupted roll-out finishes without another approval.
 */
export async function awaitApproval(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { deployment, bundle, target } = state;
  const { approval: _, ...status } = state.status;
  if (deployment.spec.upgradePolicy !== 'Manual') return { status };
  const surroundings = { dependencies, context };
  // Something else blocks the Bundle, or it was rolled back.
  if (bundle === undefined || target !== bundle) {
    const { isOther: keepOnly, found } = await compare(state, surroundings);
    return { ...found, keepOnly, ...(keepOnly && unapprovedRollback(state, dependencies)) };
  }
  const active = ownBundle(deployment, state.status.activeBundle, dependencies.bundles);
  const approval = await forSameContent(
    approvalOf(state, active),
    { ...state, bundle },
    surroundings,
  );
  let found: Found = { status: { ...status, ...(approval && { approval }) } };
  if (isApproved(approval, bundle, deployment)) {
    const compared = await compare({ ...state, ...found }, surroundings);
    found = { ...found, ...compared.found };
    if (!compared.isOther) return { ...found, ...noteApproved({ ...state, ...found }) };
  }
  return { ...found, ...(await waitWithPlan({ ...state, ...found }, bundle, surroundings)) };
}

/**
 * The approval, also when somebody has deleted its Bundle amid the roll-out and the Bundle that
 * replaces that one renders exactly the approved objects and hooks: the roll-out then goes on.
 */
async function forSameContent(
  approval: ApprovalStatus | undefined,
  state: BundleDeploymentState & { readonly bundle: Bundle },
  { dependencies, context }: Surroundings,
): Promise<ApprovalStatus | undefined> {
  const { deployment, bundle } = state;
  if (approval?.objects === undefined || !isOfFormer(approval, bundle, deployment)) return approval;
  if (!isHalfApplied(state, dependencies)) return approval;
  const { error, content, ...loaded } = await loadContent(state, dependencies, context);
  if (error !== undefined || content === undefined) return approval;
  const { uid } = approval;
  const target = { ...bundle, metadata: { ...bundle.metadata, uid } };
  const former = await contentOf({ ...state, ...loaded, target }, dependencies, context);
  if (former !== approval.objects) return approval;
  return { ...approval, uid: bundle.metadata.uid ?? '', objects: content };
}

/** Loads the target. `isOther`: its content differs from the approved or applied one. */
async function compare(
  state: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<{ readonly isOther: boolean; readonly found: Found }> {
  if (state.target === undefined) return { isOther: false, found: {} };
  const { error, ...found } = await loadContent(state, dependencies, context);
  if (error !== undefined) {
    context.signal.throwIfAborted();
    // The phase that applies reports a failure, and keeps the installed objects.
    return { isOther: false, found: { ...found, loadError: error } };
  }
  const { deployment, status, target } = state;
  // An earlier Bundle of a rollback gets the present config, with which nobody has seen it.
  const expected = isOnWayBack(status, target) ? undefined : approvedContent(status, target);
  const isOther =
    expected === undefined
      ? !isRepairable(status.approval, target, deployment) || isMadeAgain(status, target)
      : expected !== found.content;
  return { isOther, found };
}

/** Content that was approved or installed before core recorded digests is approved as it is now. */
function noteApproved({ content, status }: BundleDeploymentState): Found {
  const { approval } = status;
  if (approval === undefined || content === undefined) return {};
  return {
    status: { ...status, approval: { ...approval, objects: content } },
    approved: approval.digest !== undefined && approval.objects === content,
  };
}

/** Reports the plan, or finds it approved. */
async function waitWithPlan(
  state: BundleDeploymentState,
  bundle: Bundle,
  { dependencies, context }: Surroundings,
): Promise<Found> {
  const loaded = await loadContent(state, dependencies, context);
  const ready = { ...state, ...loaded };
  let known: KnownPlan;
  try {
    if ('error' in loaded) throw loaded.error;
    known = await currentPlan(ready, bundle, { dependencies, context });
  } catch (error) {
    return await withoutPlan(ready, { error, bundle }, { dependencies, context });
  }
  const { plan, refused } = known;
  const asked = askedDigest(state);
  if (isApproval(asked, known) || isEmpty(plan)) {
    return { status: approve(ready, { known, bundle }, dependencies), requeueAfter: 0 };
  }
  const status = { ...state.status, plan };
  const { name = '' } = state.deployment.metadata;
  const outdated = refused === plan.digest ? undefined : refused;
  const message = planMessage(name, plan, outdated);
  return await wait({ ...ready, status }, message, { dependencies, context });
}

/** A plan without changes needs no approval. */
function isEmpty(plan: PlanStatus): boolean {
  const { create, change, delete: deleted, orphan = 0, hooks, problems } = plan;
  const changes = create + change + deleted + orphan;
  return changes === 0 && hooks === undefined && problems === undefined;
}

/** The status with a recorded approval. */
function approve(
  { deployment, status }: BundleDeploymentState,
  { known, bundle }: { readonly known: KnownPlan; readonly bundle: Bundle },
  { clock, events }: Pick<ReconcileDependencies, 'clock' | 'events'>,
): BundleDeploymentStatus {
  const { plan, content: objects } = known;
  const approval = {
    ...approved(bundle, { rendering: renderingOf(deployment.spec), objects }),
    digest: plan.digest,
    approvedAt: new Date(clock.now()).toISOString(),
  };
  events.event(deployment, {
    type: 'Normal',
    reason: 'PlanApproved',
    message: `the plan ${plan.digest} of Bundle ${plan.bundle} is approved${isEmpty(plan) ? ': it changes nothing' : ''}`,
  });
  return { ...status, plan, approval };
}

/**
 * Goes on repairing the installed objects; as last applied, when the present spec would render new
 * ones. Changes nothing while the Bundle that waits is applied in part.
 */
async function wait(
  state: BundleDeploymentState,
  message: string,
  { dependencies, context }: Surroundings,
): Promise<Found> {
  const { deployment, status } = state;
  if (isHalfApplied(state, dependencies)) {
    const partly = `${message}. ${partlyText(state)}`;
    const blocked = { reason: progressReason.awaitingApproval, message: partly };
    return { status, blocked, done: true };
  }
  const blocked = state.blocked ?? { reason: progressReason.awaitingApproval, message };
  const active = ownBundle(deployment, status.activeBundle, dependencies.bundles);
  const keepOnly = active !== undefined && !isRepairable(status.approval, active, deployment);
  const found = { status, blocked, keepOnly, ...fallBack(state, dependencies) };
  if (found.done === true || keepOnly) return found;
  const compared = await compare({ ...state, ...found }, { dependencies, context });
  return { ...found, ...compared.found, keepOnly: compared.isOther };
}

function partlyText({ bundle, status: { activeBundle } }: BundleDeploymentState): string {
  return (
    `Bundle "${bundle?.metadata.name}" is applied in part: until the approval core neither continues nor goes back to Bundle "${activeBundle}". ` +
    'To go back, set spec.template to its earlier value'
  );
}

/** Reports content that would be refused as a whole in the same way as an apply. */
async function withoutPlan(
  state: BundleDeploymentState,
  { error, bundle }: { readonly error: unknown; readonly bundle: Bundle },
  { dependencies, context }: Surroundings,
): Promise<Found> {
  context.signal.throwIfAborted();
  const { clock, plans, reportHealth } = dependencies;
  const message = errorMessage(error);
  const reason = error instanceof TerminalError ? error.reason : undefined;
  const isFirst = (state.status.activeBundle ?? '') === '';
  const status =
    reason !== undefined && isFirst
      ? notInstalled(state.status, { reason, message, reportHealth }, clock)
      : state.status;
  context.wakeAfter(plans.retryAfter(state.deployment, bundle, clock.monotonic()));
  const why = `no plan can be made of Bundle ${bundle.metadata.name}: ${message}`;
  return await wait({ ...state, status }, why, { dependencies, context });
}

/** Removes a plan that is completely carried out. */
export async function closePlan(
  state: BundleDeploymentState,
  { plans, storedPlans }: ReconcileDependencies,
  { signal }: PhaseContext,
): Promise<Found> {
  const { plan, ...status } = state.status;
  if (plan === undefined || state.target !== state.bundle || state.kept === true) return {};
  const { name = '' } = state.deployment.metadata;
  await storedPlans.remove(name, signal);
  plans.close(name);
  return { status };
}
