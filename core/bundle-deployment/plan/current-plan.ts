import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import type { KnownPlan } from '../memory.ts';
import type { BundleDeploymentState, Surroundings } from '../phase.ts';
import { askedDigest } from './approval.ts';
import { makePlan } from './make-plan.ts';

/**
 * Pause between two plans: at least so many milliseconds, and a multiple of the time that a plan
 * takes, so that waiting costs little.
 */
const pause = { least: 10_000, factor: 20 } as const;

/** Whether somebody has approved exactly this plan. */
export function isApproval(asked: string | undefined, { plan }: KnownPlan): boolean {
  return asked === plan.digest && plan.problems === undefined;
}

/**
 * The remembered plan, or a new one when that may be outdated; always a new one to check an
 * approval.
 */
export async function currentPlan(
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
