import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { PlanStatus } from '../../../api/v1alpha1/deployment-plan.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import { ownBundle } from '../bundles.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { KnownPlan } from '../memory.ts';
import type { BundleDeploymentState, Found, PhaseContext, Surroundings } from '../phase.ts';
import { fallBack } from '../phases/choose-target.ts';
import { notInstalled } from '../status.ts';
import {
  approvalOf,
  approved,
  approvedContent,
  askedDigest,
  isApproved,
  isRepairable,
  renderingOf,
} from './approval.ts';
import { planMessage } from './full-plan.ts';
import { loadContent, makePlan } from './make-plan.ts';

/**
 * Pause between two plans: at least so many milliseconds, and a multiple of the time that a plan
 * takes, so that waiting costs little.
 */
const pause = { least: 10_000, factor: 20 } as const;

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
    return { ...found, keepOnly };
  }
  const active = ownBundle(deployment, state.status.activeBundle, dependencies.bundles);
  const approval = approvalOf(state, active);
  let found: Found = { status: { ...status, ...(approval && { approval }) } };
  if (isApproved(approval, bundle, deployment)) {
    const compared = await compare({ ...state, ...found }, surroundings);
    found = { ...found, ...compared.found };
    if (!compared.isOther) return { ...found, ...noteApproved({ ...state, ...found }) };
  }
  return { ...found, ...(await waitWithPlan({ ...state, ...found }, bundle, surroundings)) };
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
    return { isOther: false, found };
  }
  const { deployment, status, target } = state;
  const expected = approvedContent(status, target);
  const isOther =
    expected === undefined
      ? !isRepairable(status.approval, target, deployment)
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

function isApproval(asked: string | undefined, { plan }: KnownPlan): boolean {
  return asked === plan.digest && plan.problems === undefined;
}

/**
 * The remembered plan, or a new one when that may be outdated; always a new one to check an
 * approval.
 */
async function currentPlan(
  state: BundleDeploymentState,
  bundle: Bundle,
  { dependencies, context }: Surroundings,
): Promise<KnownPlan> {
  const asked = askedDigest(state);
  const remembered = rememberedPlan(state, bundle, dependencies);
  const isNews = remembered === undefined || asked !== remembered.refused;
  if (remembered !== undefined && (asked === undefined || !isNews)) {
    remembered.refused = asked;
    if (!isDue(remembered, { dependencies, context })) return remembered;
  }
  const made = await makePlan(state, dependencies, context);
  if (asked !== undefined && !isApproval(asked, made)) {
    made.refused = asked;
    // The difference may be drift that core is about to repair.
    made.stale ||= isNews;
  }
  if (made.stale) context.wakeAfter(pauseAfter(made));
  return made;
}

/** The remembered plan for the content that would be applied now. */
function rememberedPlan(
  { deployment, content }: BundleDeploymentState,
  bundle: Bundle,
  { plans }: Pick<ReconcileDependencies, 'plans'>,
): KnownPlan | undefined {
  const known = plans.get(deployment, bundle);
  return known?.content === content ? known : undefined;
}

/** Whether a plan must be made again now; otherwise wakes the deployment when it must. */
function isDue(known: KnownPlan, { dependencies, context }: Surroundings): boolean {
  if (!known.stale) return false;
  const wait = known.madeAt + pauseAfter(known) - dependencies.clock.monotonic();
  if (wait > 0) context.wakeAfter(wait);
  return wait <= 0;
}

function pauseAfter({ took, retryAfter = pause.least }: KnownPlan): number {
  return Math.max(retryAfter, pause.factor * took);
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
 * ones.
 */
async function wait(
  state: BundleDeploymentState,
  message: string,
  { dependencies, context }: Surroundings,
): Promise<Found> {
  const { deployment, status } = state;
  const blocked = state.blocked ?? { reason: progressReason.awaitingApproval, message };
  const active = ownBundle(deployment, status.activeBundle, dependencies.bundles);
  const keepOnly = active !== undefined && !isRepairable(status.approval, active, deployment);
  const found = { status, blocked, keepOnly, ...fallBack(state, dependencies) };
  if (found.done === true || keepOnly) return found;
  const compared = await compare({ ...state, ...found }, { dependencies, context });
  return { ...found, ...compared.found, keepOnly: compared.isOther };
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
