import type { ApplyRequest, Forecast } from '../contracts/applier.ts';
import { beginRun, isFinished, permitted, watchKinds } from './apply-run.ts';
import type { EngineParts } from './engine-parts.ts';
import { digestOf } from './fields/digest.ts';
import { forecastObjects } from './forecast/forecast-objects.ts';
import { foreseenChange } from './forecast/foreseen-change.ts';
import { describeObject } from './objects/object-id.ts';
import { isNamespace } from './objects/order.ts';
import { DeploymentConsent } from './ownership/deployment-consent.ts';
import { isLeftByRukpak } from './ownership/ownership.ts';
import { splitPlan } from './plan/drift-policy.ts';
import { type PlannedObject, planSet } from './plan/plan.ts';
import { planPrune } from './prune-run.ts';
import { throwUndecided } from './removal/removal-namespaces.ts';
import type { Run } from './run.ts';
import { type UsedNamespaces, usedNamespaces } from './used-namespaces.ts';

/** What an apply of a set would do, as far as it can be foreseen; writes nothing, claims nothing. */
export async function forecastRun(parts: EngineParts, request: ApplyRequest): Promise<Forecast> {
  const run = await beginRun(parts, request);
  await watchKinds(run);
  const used = await usedNamespaces(run);
  const pending = pendingOf(run, used);
  await permitted(run, pending);
  const consent = new DeploymentConsent({ ...parts.options, ...parts, signal: run.signal });
  const prune = await planPrune(run);
  throwUndecided(prune, prune.remove);
  const { claimed, free } = await byClaim(run, pending, consent);
  const found = await forecastObjects(
    {
      ...run,
      ...parts.options,
      client: run.client,
      consent,
      signal: run.signal,
      pending: free.map(({ desired }) => desired),
      superfluous: prune.remove,
    },
    foreseenChange,
  );
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

/** As an apply finds out what has to be sent, but for repairs that wait: they would come. */
function pendingOf(run: Run, used: UsedNamespaces): readonly PlannedObject[] {
  const { parts, owner, name, set, unchanged } = run;
  const { drift, options } = parts;
  const given = parts.given.find(owner, set.objects);
  const own = set.objects.filter((object) => !given.has(object) && !used.has(object));
  const { pending } = planSet(own, {
    ...parts,
    owner: name,
    backoff: { pause: () => 0 },
    isFinished: (desired) => isFinished(run, desired),
    hasDrifted: (record) => drift.hasDrifted(record),
    isLeft: (live) => isLeftByRukpak(live, owner, options.systemNamespace),
  });
  return splitPlan(owner, pending, unchanged).pending;
}

interface ByClaim {
  /** Sentences about objects that another deployment is about to have. */
  readonly claimed: readonly string[];
  readonly free: readonly PlannedObject[];
}

async function byClaim(
  { parts, owner, name }: Run,
  pending: readonly PlannedObject[],
  consent: DeploymentConsent,
): Promise<ByClaim> {
  const [claimed, free]: [string[], PlannedObject[]] = [[], []];
  for (const planned of pending) {
    const { id, resource, key } = planned.desired;
    const holder = isNamespace(resource) ? undefined : parts.claims.otherHolder(id, name);
    if (holder === undefined || (await consent.toHandOver(holder, owner)) !== undefined) {
      free.push(planned);
      continue;
    }
    const what = describeObject(resource.kind, key);
    claimed.push(`${what} belongs to BundleDeployment "${holder}": remove it from one of the two`);
  }
  return { claimed, free };
}
