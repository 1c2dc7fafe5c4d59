import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { PlanStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import { ownBundle } from '../bundles.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { KnownPlan } from '../memory.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../phase.ts';
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

/** Milliseconds between two plans, and times that it took to make one: watching must cost little. */
const pause = { least: 10_000, factor: 20 } as const;

/**
 * With upgradePolicy Manual, lets only pass what was approved: for anything else a plan is made and
 * held up. An approval is written down before the next reconcile acts on it, so that what breaks
 * off in the middle is finished without another one.
 */
export async function awaitApproval(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  const { deployment, bundle } = state;
  const { approval: _, ...status } = state.status;
  if (deployment.spec.upgradePolicy !== 'Manual') {
    state.status = status;
    return 'continue';
  }
  const surroundings = { dependencies, context };
  // Something else holds it up, or it was rolled back.
  if (bundle === undefined || state.target !== bundle) {
    state.keepOnly = await isOther(state, surroundings);
    return 'continue';
  }
  const active = ownBundle(state.deployment, state.status.activeBundle, dependencies.bundles);
  const approval = approvalOf(state, active);
  state.status = { ...status, ...(approval === undefined ? {} : { approval }) };
  if (isApproved(approval, bundle, deployment) && !(await isOther(state, surroundings))) {
    noteApproved(state);
    return 'continue';
  }
  return await waitWithPlan(state, bundle, surroundings);
}

interface Surroundings {
  readonly dependencies: ReconcileDependencies;
  readonly context: StepContext;
}

/** Whether the target would become anything else than what was approved or applied of it. */
async function isOther(
  state: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<boolean> {
  if (state.target === undefined) return false;
  try {
    await loadContent(state, dependencies, context);
  } catch {
    context.signal.throwIfAborted();
    // What cannot be made is told of, and what is installed kept, by who applies it.
    return false;
  }
  const expected = approvedContent(state.status, state.target);
  return expected !== undefined && expected !== state.content;
}

/** What was approved, or installed, before contents were noted is approved as it is now. */
function noteApproved(state: BundleDeploymentState): void {
  const { content, status } = state;
  const { approval } = status;
  if (approval === undefined || content === undefined) return;
  state.status = { ...status, approval: { ...approval, objects: content } };
  state.approved = approval.digest !== undefined && approval.objects === content;
}

/** Tells the plan, or finds it approved. */
async function waitWithPlan(
  state: BundleDeploymentState,
  bundle: Bundle,
  { dependencies, context }: Surroundings,
): Promise<StepOutcome> {
  let known: KnownPlan;
  try {
    known = await currentPlan(state, bundle, { dependencies, context });
  } catch (error) {
    return await withoutPlan(state, { error, bundle }, { dependencies, context });
  }
  const { plan, refused } = known;
  const asked = askedDigest(state);
  if (isApproval(asked, known) || isEmpty(plan)) {
    approve(state, { known, bundle }, dependencies);
    return { requeueAfter: 0 };
  }
  state.status = { ...state.status, plan };
  const { name = '' } = state.deployment.metadata;
  const outdated = refused === plan.digest ? undefined : refused;
  const message = planMessage(name, plan, outdated);
  return await wait(state, message, { dependencies, context });
}

function isApproval(asked: string | undefined, { plan }: KnownPlan): boolean {
  return asked === plan.digest && plan.problems === undefined;
}

/** The plan remembered, or a new one where it may have changed and always for an approval. */
async function currentPlan(
  state: BundleDeploymentState,
  bundle: Bundle,
  { dependencies, context }: Surroundings,
): Promise<KnownPlan> {
  const asked = askedDigest(state);
  const remembered = await rememberedPlan(state, bundle, { dependencies, context });
  const isNews = remembered === undefined || asked !== remembered.refused;
  if (remembered !== undefined && (asked === undefined || !isNews)) {
    remembered.refused = asked;
    if (!isDue(remembered, { dependencies, context })) return remembered;
  }
  const made = await makePlan(state, dependencies, context);
  if (asked !== undefined && !isApproval(asked, made)) {
    made.refused = asked;
    // The difference may be drift that is about to be repaired.
    made.stale ||= isNews;
  }
  if (made.stale) context.wakeAfter(pauseAfter(made));
  return made;
}

/** Of what would be applied now. */
async function rememberedPlan(
  state: BundleDeploymentState,
  bundle: Bundle,
  { dependencies, context }: Surroundings,
): Promise<KnownPlan | undefined> {
  await loadContent(state, dependencies, context);
  const known = dependencies.plans.get(state.deployment, bundle);
  return known?.content === state.content ? known : undefined;
}

/** Whether it is time to make a plan again; asks to be woken where it will be. */
function isDue(known: KnownPlan, { dependencies, context }: Surroundings): boolean {
  if (!known.stale) return false;
  const wait = known.madeAt + pauseAfter(known) - dependencies.clock.now();
  if (wait > 0) context.wakeAfter(wait);
  return wait <= 0;
}

function pauseAfter({ took, retryAfter = pause.least }: KnownPlan): number {
  return Math.max(retryAfter, pause.factor * took);
}

/** What would change nothing needs nobody's approval. */
function isEmpty(plan: PlanStatus): boolean {
  const { create, change, delete: deleted, hooks, problems } = plan;
  return create + change + deleted === 0 && hooks === undefined && problems === undefined;
}

function approve(
  state: BundleDeploymentState,
  { known, bundle }: { readonly known: KnownPlan; readonly bundle: Bundle },
  { clock, events }: Pick<ReconcileDependencies, 'clock' | 'events'>,
): void {
  const { plan, content: objects } = known;
  const rendering = renderingOf(state.deployment.spec);
  const approval = {
    ...approved(bundle, { rendering, objects }),
    digest: plan.digest,
    approvedAt: new Date(clock.now()).toISOString(),
  };
  state.status = { ...state.status, plan, approval };
  events.event(state.deployment, {
    type: 'Normal',
    reason: 'PlanApproved',
    message: `the plan ${plan.digest} of Bundle ${plan.bundle} is approved${isEmpty(plan) ? ': it changes nothing' : ''}`,
  });
}

/** What is installed goes on being repaired: where it would become something new by that, as it was applied. */
async function wait(
  state: BundleDeploymentState,
  message: string,
  { dependencies, context }: Surroundings,
): Promise<StepOutcome> {
  state.holdUp ??= { reason: progressReason.awaitingApproval, message };
  const { approval } = state.status;
  const active = ownBundle(state.deployment, state.status.activeBundle, dependencies.bundles);
  state.keepOnly = active !== undefined && !isRepairable(approval, active, state.deployment);
  const outcome = fallBack(state, dependencies);
  if (outcome === 'continue') state.keepOnly ||= await isOther(state, { dependencies, context });
  return outcome;
}

/** What would be refused as a whole is told as an apply would tell it. */
async function withoutPlan(
  state: BundleDeploymentState,
  { error, bundle }: { readonly error: unknown; readonly bundle: Bundle },
  { dependencies, context }: Surroundings,
): Promise<StepOutcome> {
  context.signal.throwIfAborted();
  const { clock, plans, reportHealth } = dependencies;
  const message = errorMessage(error);
  const reason = error instanceof TerminalError ? error.reason : undefined;
  if (reason !== undefined && (state.status.activeBundle ?? '') === '') {
    state.status = notInstalled(state.status, { reason, message, reportHealth }, clock);
  }
  context.wakeAfter(plans.retryAfter(state.deployment, bundle, clock.now()));
  const why = `no plan can be made of Bundle ${bundle.metadata.name}: ${message}`;
  return await wait(state, why, { dependencies, context });
}

/** Takes the plan away once there is nothing of it left to do. */
export async function closePlan(
  state: BundleDeploymentState,
  { plans, storedPlans }: ReconcileDependencies,
  { signal }: StepContext,
): Promise<StepOutcome> {
  const { plan, ...status } = state.status;
  if (plan === undefined || state.target !== state.bundle || state.kept === true) return 'continue';
  const { name = '' } = state.deployment.metadata;
  await storedPlans.remove(name, signal);
  plans.forget(name);
  state.status = status;
  return 'continue';
}
