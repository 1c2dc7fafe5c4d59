import type { Forecast } from '../../contracts/applier.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { originOf } from '../finished.ts';
import { plannedHooks } from '../hooks/planned-hooks.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';
import { fullPlan, planStatus } from './full-plan.ts';
import { loadContent } from './load-content.ts';
import type { KnownPlan } from './plan-memory.ts';

/** Makes the plan of the target from the cluster as it is, stores and remembers it. */
export async function makePlan(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<KnownPlan> {
  const { plans, storedPlans, clock } = dependencies;
  const { signal } = context;
  const madeAt = clock.now();
  await loadContent(state, dependencies, context);
  const { deployment, status, target: bundle } = state;
  if (bundle === undefined) throw new Error('there is no Bundle to make a plan of');
  const forecast = await foresee(state, dependencies, context);
  const { name = '', uid = '' } = bundle.metadata;
  const made = fullPlan(forecast, {
    deployment: deployment.metadata.name ?? '',
    bundle: { name, uid },
    hooks: plannedHooks(state),
    createdAt: new Date(madeAt).toISOString(),
  });
  const same = status.plan?.digest === made.digest;
  const plan = same ? { ...made, createdAt: status.plan?.createdAt ?? made.createdAt } : made;
  await storedPlans.write(deployment, plan, signal);
  // The full plan may be megabytes long: it is not kept here as well.
  // What stands in the way may be removed without our seeing it.
  const stale = plan.problems.length > 0;
  const retryAfter = stale ? { retryAfter: plans.retryAfter(deployment, bundle, madeAt) } : {};
  const known: KnownPlan = {
    plan: planStatus(plan),
    content: state.content,
    madeAt,
    took: clock.now() - madeAt,
    stale,
    ...retryAfter,
  };
  plans.set({ deployment, bundle }, known);
  return known;
}

async function foresee(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal }: StepContext,
): Promise<Forecast> {
  const { deployment: owner, hooks = [] } = state;
  const { certificates, applier } = dependencies;
  const rendered = { deployment: owner, objects: state.objects ?? [], signal };
  const objects = await certificates.foresee(rendered);
  return await applier.plan({ owner, objects, hooks, signal, ...originOf(state) });
}
