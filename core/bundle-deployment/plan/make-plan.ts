import { createHmac } from 'node:crypto';
import type { KubernetesObject } from '../../../api/meta.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import type { Forecast } from '../../contracts/applier.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { plannedHooks } from '../hooks/deploy-hooks.ts';
import type { KnownPlan } from '../memory.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import { digestOfAll, loadObjects } from '../rendering/load-objects.ts';
import { originOf } from '../status.ts';
import { fullPlan, planStatus } from './full-plan.ts';

/** Makes the plan of the loaded target from the present cluster; stores and remembers it. */
export async function makePlan(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<KnownPlan> {
  const { plans, storedPlans, clock } = dependencies;
  const { signal } = context;
  const madeAt = clock.monotonic();
  const createdAt = new Date(clock.now()).toISOString();
  const { deployment, status, target: bundle } = state;
  if (bundle === undefined) throw new Error('no Bundle for the plan');
  const forecast = await foresee(state, dependencies, context);
  const { name = '', uid = '' } = bundle.metadata;
  const made = fullPlan(forecast, {
    deployment: deployment.metadata.name ?? '',
    bundle: { name, uid },
    hooks: plannedHooks(state),
    createdAt,
  });
  const same = status.plan?.digest === made.digest;
  const plan = same ? { ...made, createdAt: status.plan?.createdAt ?? made.createdAt } : made;
  await storedPlans.write(deployment, plan, signal);
  // Keeps only the status part: the full plan may be megabytes long. A plan with problems is stale
  // at once, because their removal sends no event.
  const stale = plan.problems.length > 0;
  const retryAfter = stale ? { retryAfter: plans.retryAfter(deployment, bundle, madeAt) } : {};
  const known: KnownPlan = {
    plan: planStatus(plan),
    content: state.content,
    madeAt,
    took: clock.monotonic() - madeAt,
    stale,
    ...retryAfter,
  };
  plans.set({ deployment, bundle }, known);
  return known;
}

async function foresee(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal }: PhaseContext,
): Promise<Forecast> {
  const { deployment: owner, leftOut = [], hooks = [] } = state;
  const { certificates, applier } = dependencies;
  const rendered = { deployment: owner, objects: state.objects ?? [], signal };
  const objects = await certificates.foresee(rendered);
  return await applier.plan({ owner, objects, leftOut, hooks, signal, ...originOf(state) });
}

interface KnownContent {
  readonly place: string;
  readonly digest: string;
}

/**
 * Keyed by the list of objects, so that it is dropped with a rendering; a deployment is reconciled
 * often.
 */
const known = new WeakMap<readonly KubernetesObject[], KnownContent>();

/** Loads the target's objects, with a digest of them and of their namespaces. */
export async function loadContent(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const loaded = await loadObjects(state, dependencies, context);
  if ('error' in loaded) return loaded;
  try {
    const content = await contentOf({ ...state, ...loaded }, dependencies, context);
    return { ...loaded, content };
  } catch (error) {
    return { ...loaded, error };
  }
}

/** The digest of loaded objects as those of the target. */
export async function contentOf(
  { deployment, target, objects = [], hooks = [], recipe }: BundleDeploymentState,
  { systemNamespace }: Pick<ReconcileDependencies, 'systemNamespace'>,
  { signal }: Pick<PhaseContext, 'signal'>,
): Promise<string> {
  const { uid = '' } = target?.metadata ?? {};
  const place = JSON.stringify([uid, installNamespaceOf(deployment, systemNamespace)]);
  const found = known.get(objects);
  if (found?.place === place) return found.digest;
  // Keyed with the seed, so that nobody can guess generated values, which are otherwise only in
  // Secrets.
  const hmac = createHmac('sha256', recipe?.facts.seed ?? '').update(place);
  const digest = await digestOfAll([...hooks, ...objects], hmac, signal);
  known.set(objects, { place, digest });
  return digest;
}
