import { setImmediate } from 'node:timers/promises';
import type { ApplyRequest, Forecast } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type KubeClient,
  liveObject,
  type ObjectKey,
  type Resource,
} from '../../platform/kube/index.ts';
import type { ApplyMetrics } from '../../platform/observe/index.ts';
import { splitPlan } from '../drift/drift-policy.ts';
import { digestOf } from '../fields/projection.ts';
import type { DesiredObject, PlannedObject } from '../objects/desired.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { describeObject } from '../objects/object-id.ts';
import { inKindOrder, isNamespace } from '../objects/order.ts';
import { DeploymentConsent } from '../ownership/consent.ts';
import type { SharedNamespaces } from '../ownership/shared-namespaces.ts';
import type { Run } from '../plan/plan.ts';
import type { Planner } from '../plan/planner.ts';
import { lostConversions } from '../prune/lost-conversions.ts';
import { throwUndecided } from '../prune/prune-plan.ts';
import type { Pruner } from '../prune/pruner.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { foreseenChange, foreseenOrphan } from './foreseen-change.ts';
import {
  ObjectForecast,
  type ObjectForecastOptions,
  type ObjectStates,
} from './object-forecast.ts';

interface ForecasterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly metrics?: Pick<ApplyMetrics, 'requested'>;
  readonly systemNamespace: string;
  readonly owners: OwnerStates;
  readonly namespaces: SharedNamespaces;
  readonly planner: Planner;
  readonly pruner: Pruner;
}

interface ByClaim {
  /** Sentences about objects that another deployment is about to apply. */
  readonly claimed: readonly string[];
  readonly free: readonly PlannedObject[];
}

/** Forecasts what an apply of a set would do; writes and claims nothing. */
export class Forecaster {
  readonly #options: ForecasterOptions;

  constructor(options: ForecasterOptions) {
    this.#options = options;
  }

  async forecast(request: ApplyRequest): Promise<Forecast> {
    const { planner, pruner, namespaces } = this.#options;
    const run = await planner.begin(request);
    await planner.watchKinds(run);
    const used = await namespaces.find(run);
    // Plans like an apply, but with repairs that are paused: an apply would make them later.
    const plan = planner.plan(run, { given: planner.given(run), used }, () => 0);
    const { pending } = splitPlan(run.owner, plan.pending, run.unchanged);
    await planner.checkPermissions(run, pending);
    const consent = new DeploymentConsent({ ...this.#options, signal: run.signal });
    const prune = await pruner.plan(run);
    throwUndecided(prune, prune.remove);
    const lost = await lostConversions(prune, { ...this.#options, signal: run.signal });
    const { claimed, free } = await byClaim(run, pending, consent);
    const objects = {
      ...this.#options,
      ...run,
      consent,
      pending: free.map(({ desired }) => desired),
      superfluous: prune.remove,
    };
    const found = await forecastObjects(objects, foreseenChange);
    const problems = [...claimed, ...found.problems];
    const orphaned = [...prune.orphan].map(([entry, because]) => foreseenOrphan(entry, because));
    const changes = [...found.changes, ...orphaned];
    const identities = changes.map(({ identity }) => digestOf(identity)).toSorted();
    return {
      // An approval is valid once: the same changes at another generation are another plan.
      digest: digestOf([run.owner.metadata.generation, identities, problems.length]),
      changes: changes.map(({ change }) => change),
      unchanged: run.set.objects.length - pending.length + found.unchanged,
      problems,
      warnings: [...found.warnings, ...lost.values()],
    };
  }
}

async function byClaim(
  { owner, state }: Run,
  pending: readonly PlannedObject[],
  consent: DeploymentConsent,
): Promise<ByClaim> {
  const [claimed, free]: [string[], PlannedObject[]] = [[], []];
  for (const planned of pending) {
    const { id, resource, key } = planned.desired;
    const holder = isNamespace(resource) ? undefined : state.otherHolder(id);
    if (holder === undefined || (await consent.toTransfer(holder, owner)) !== undefined) {
      free.push(planned);
      continue;
    }
    const what = describeObject(resource.kind, key);
    claimed.push(`${what} belongs to BundleDeployment "${holder}": remove it from one of the two`);
  }
  return { claimed, free };
}

const concurrentRequests = 8;

interface ForecastRequest extends ObjectForecastOptions {
  /** Objects that may differ from the wanted state. */
  readonly pending: readonly DesiredObject[];
  /** Objects that an apply would delete. */
  readonly superfluous: readonly ForecastObject[];
}

/** An object that exists, or that an apply would create. */
interface ForecastObject {
  readonly resource: Resource;
  readonly key: ObjectKey;
}

/** The forecast for one object. */
export interface ForeseenObject extends ForecastObject, ObjectStates {
  /** Undefined for an object that would be deleted. */
  readonly desired: DesiredObject | undefined;
}

interface ObjectForecasts<T> {
  /** In the order in which kinds are applied; deletions last. */
  readonly changes: readonly T[];
  /** Number of pending objects that an apply would not change. */
  readonly unchanged: number;
  /** Why objects could not be applied. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Forecasts by dry runs what an apply would change; writes nothing. `show` returns the part of each
 * changed object that is kept, because whole objects would need too much memory; it returns
 * undefined for an unchanged object.
 * @throws Error when the API server cannot answer now.
 */
export async function forecastObjects<T>(
  request: ForecastRequest,
  show: (object: ForeseenObject) => T | undefined,
): Promise<ObjectForecasts<T>> {
  const forecast = new ObjectForecast(request);
  const ordered = inKindOrder(request.pending).flat();
  const shown = new Map<DesiredObject, T>();
  const problems = new Map<DesiredObject, string>();
  await forEachLimit(ordered, concurrentRequests, async (desired) => {
    const { resource, key } = desired;
    const outcome = await forecast.of(desired);
    if ('problem' in outcome) {
      problems.set(desired, outcome.problem);
      return;
    }
    // Comparing large objects takes long: yield to other work.
    await setImmediate();
    const change = show({ resource, key, desired, ...outcome });
    if (change !== undefined) shown.set(desired, change);
  });
  const deletions = await forecastDeletions(request, show);
  const changes = ordered.flatMap((desired) => shown.get(desired) ?? []);
  return {
    changes: [...changes, ...deletions],
    unchanged: ordered.length - shown.size - problems.size,
    problems: ordered.flatMap((desired) => problems.get(desired) ?? []),
    warnings: forecast.warnings,
  };
}

async function forecastDeletions<T>(
  { client, superfluous, signal }: ForecastRequest,
  show: (object: ForeseenObject) => T | undefined,
): Promise<readonly T[]> {
  const shown = new Map<ForecastObject, T>();
  await forEachLimit(superfluous, concurrentRequests, async (entry) => {
    const { resource, key } = entry;
    // The inventory keeps only a part of the object.
    const before = await liveObject(client, { resource, key }, signal);
    if (before === undefined) return;
    const change = show({ resource, key, desired: undefined, before, after: undefined });
    if (change !== undefined) shown.set(entry, change);
  });
  return superfluous.flatMap((entry) => shown.get(entry) ?? []);
}
