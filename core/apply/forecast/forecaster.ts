import type { ApplyRequest, Forecast } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import type { ApplyMetrics } from '../../platform/observe/index.ts';
import { splitPlan } from '../drift/drift-policy.ts';
import { digestOf } from '../fields/projection.ts';
import type { PlannedObject } from '../objects/desired.ts';
import { describeObject } from '../objects/object-id.ts';
import { isNamespace } from '../objects/order.ts';
import { DeploymentConsent } from '../ownership/consent.ts';
import type { SharedNamespaces } from '../ownership/shared-namespaces.ts';
import type { Run } from '../plan/plan.ts';
import type { Planner } from '../plan/planner.ts';
import { throwUndecided } from '../prune/namespaces.ts';
import type { Pruner } from '../prune/pruner.ts';
import type { OwnerStates } from '../state/owner-state.ts';
import { forecastObjects } from './forecast-objects.ts';
import { foreseenChange } from './foreseen-change.ts';

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
  /** Sentences about objects that another deployment is about to have. */
  readonly claimed: readonly string[];
  readonly free: readonly PlannedObject[];
}

/** What an apply of a set would do, as far as it can be foreseen; writes nothing, claims nothing. */
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
    // As an apply finds out what has to be sent, but for repairs that wait: they would come.
    const plan = planner.plan(run, { given: planner.given(run), used }, () => 0);
    const { pending } = splitPlan(run.owner, plan.pending, run.unchanged);
    await planner.checkPermissions(run, pending);
    const consent = new DeploymentConsent({ ...this.#options, signal: run.signal });
    const prune = await pruner.plan(run);
    throwUndecided(prune, prune.remove);
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
    const identities = found.changes.map(({ identity }) => digestOf(identity)).toSorted();
    return {
      // An approval is for once: the same changes at another time are another plan.
      digest: digestOf([run.owner.metadata.generation, identities, problems.length]),
      changes: found.changes.map(({ change }) => change),
      unchanged: run.set.objects.length - pending.length + found.unchanged,
      problems,
      warnings: found.warnings,
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
    if (holder === undefined || (await consent.toHandOver(holder, owner)) !== undefined) {
      free.push(planned);
      continue;
    }
    const what = describeObject(resource.kind, key);
    claimed.push(`${what} belongs to BundleDeployment "${holder}": remove it from one of the two`);
  }
  return { claimed, free };
}
