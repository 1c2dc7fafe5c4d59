import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { ApplyRequest, ApplyResult, DriftedObject } from '../contracts/applier.ts';
import { applyPending } from './apply-pending.ts';
import { desiredHooks } from './content/desired-hooks.ts';
import { desiredSet } from './content/desired-set.ts';
import { isCollected } from './drift/finished-objects.ts';
import type { EngineParts } from './engine-parts.ts';
import { readJudged } from './judged-objects.ts';
import { notServed } from './kinds/earlier-kinds.ts';
import type { DesiredObject } from './objects/desired.ts';
import type { GroupKind } from './objects/group-kind.ts';
import { handsOverTo } from './ownership/adoption-level.ts';
import { isLeftByRukpak } from './ownership/ownership.ts';
import { driftMode, noteDrift, splitPlan } from './plan/drift-policy.ts';
import { type PlannedObject, planSet } from './plan/plan.ts';
import { clientOf } from './privilege/owner-client.ts';
import { planPrune, pruneRun } from './prune-run.ts';
import type { Run } from './run.ts';
import { checkStageOrder } from './stages/stage-order.ts';
import { noteUsed, type UsedNamespaces, usedNamespaces } from './used-namespaces.ts';

/** Brings the cluster to one owner's set: what has to change, whether it may, the change, the rest. */
export async function applyRun(parts: EngineParts, request: ApplyRequest): Promise<ApplyResult> {
  const run = await beginRun(parts, request);
  const unknown = await watchKinds(run);
  await parts.restored.check(run.owner, run.signal);
  await readJudged(run);
  parts.finished.begin(run.name, request);
  const used = await usedNamespaces(run);
  noteUsed(run, used);
  const { pending, drifted } = planRun(run, used);
  await permitted(run, pending);
  // Hooks are to be guarded as objects are, also where there is no object.
  const isNothing = pending.length === 0 && !run.foundationOnly;
  const applied = isNothing ? { changes: 0 } : await applyPending(run, pending);
  if (applied.holdUp !== undefined || run.foundationOnly) {
    return { ...applied, complete: false, drifted, finished: parts.finished.of(run.name) };
  }
  const { changes, held, holdUp, heldPrune, unserved: lost = [] } = await pruneRun(run);
  const unserved = [...unknown, ...lost];
  await settle(run, [...held.map(({ resource }) => resource), ...unserved, ...stillOwned(run)]);
  parts.optionalKinds.await(run.owner, run.set.omitted);
  return {
    changes: applied.changes + changes,
    complete: true,
    holdUp: holdUp ?? notServed(unserved),
    heldPrune,
    drifted,
    finished: parts.finished.of(run.name),
  };
}

export async function beginRun(parts: EngineParts, request: ApplyRequest): Promise<Run> {
  const { owner, waitForReady = false, unchanged = false, foundationOnly = false } = request;
  const { deletionsAsked, changedFacts, signal } = request;
  const { options } = parts;
  const operation = isInstalled(owner) ? 'upgrade' : 'install';
  const wanted = { ...options, ...request, operation } as const;
  const set = await desiredSet(wanted);
  const hooks = await desiredHooks(wanted, set);
  checkStageOrder(set.objects, operation);
  const earlier = await parts.earlierKinds.of(owner, signal);
  const name = owner.metadata.name ?? '';
  return {
    parts,
    owner,
    name,
    client: clientOf(owner, options.client),
    operation,
    set,
    hooks,
    earlier,
    waitForReady,
    foundationOnly,
    unchanged,
    ...(deletionsAsked === undefined ? {} : { deletionsAsked }),
    changedFacts,
    origin: request,
    signal,
  };
}

/** Nothing is changed where the owner's account may not do all of it. */
export async function permitted(run: Run, pending: readonly PlannedObject[]): Promise<void> {
  if (run.owner.spec.serviceAccount === undefined) return;
  const { remove } = await planPrune(run);
  const ids = new Set(pending.map(({ desired }) => desired.id));
  const kept = run.unchanged ? [] : run.set.objects.filter(({ id }) => !ids.has(id));
  await run.parts.preflight.run({ ...run, pending, superfluous: remove, kept });
}

/** Makes the inventory know all objects of the run's kinds; returns the kinds that it cannot know of. */
export async function watchKinds(run: Run): Promise<readonly GroupKind[]> {
  const { parts, name, set, earlier, signal } = run;
  const kinds = set.objects.filter(set.isServed).map(({ resource }) => resource);
  const { resources, unserved } = await parts.earlierKinds.find(name, earlier, signal);
  await parts.watches.ensure([...kinds, ...resources], signal);
  return unserved;
}

interface PlannedRun {
  readonly pending: readonly PlannedObject[];
  readonly drifted: readonly DriftedObject[] | undefined;
}

/** Finds out without any request what has to be sent. */
function planRun(run: Run, used: UsedNamespaces): PlannedRun {
  const { parts, owner, name, unchanged } = run;
  const { records, drift, claims, options } = parts;
  const { pending, found } = planSet(ownSet(run, used), {
    ...parts,
    owner: name,
    backoff: driftMode(owner) === 'Correct' ? parts.backoff : { pause: () => 0 },
    isFinished: (desired) => isFinished(run, desired),
    hasDrifted: (record) => drift.hasDrifted(record),
    isLeft: (live) => isLeftByRukpak(live, owner, options.systemNamespace),
  });
  for (const record of found) {
    records.set(record);
    const isGone = parts.inventory.get(record.resource, record.key) === undefined;
    if (isGone && parts.finished.find(record) === undefined) parts.finished.assume(record);
    drift.health(record);
  }
  noteFinished(run);
  // What the cluster says is more than what somebody is about to do.
  claims.seize(
    found.map(({ id }) => id),
    name,
  );
  const split = splitPlan(owner, pending, unchanged);
  return { pending: split.pending, drifted: noteDrift(parts, owner, split.drifted) };
}

/**
 * Whether an object has ended, and need not be there. What Kubernetes deletes by itself and went while
 * no process looked has ended most likely: to run it twice may do harm.
 */
export function isFinished(
  { parts, name, origin, unchanged }: Run,
  desired: DesiredObject,
): boolean {
  if (parts.finished.covers(name, origin, desired)) return true;
  return unchanged && isCollected(desired) && parts.records.get(desired.id) === undefined;
}

/** Of this Bundle, whatever was noted of the one before. */
function noteFinished({ parts, name, set }: Run): void {
  const { records, inventory, drift } = parts;
  for (const { id, resource, key } of set.objects) {
    const record = records.get(id);
    if (record?.runs === undefined || record.owner !== name) continue;
    drift.noteFinished(record, inventory.get(resource, key));
  }
}

/** The set without what other deployments have taken with the owner's consent, and what is only used. */
function ownSet({ parts, owner, name, set }: Run, used: UsedNamespaces): readonly DesiredObject[] {
  const { records, claims } = parts;
  const given = parts.given.find(owner, set.objects);
  parts.given.keep(name, given);
  if (given.size + used.size === 0) return set.objects;
  for (const { id } of [...given, ...used.keys()]) {
    records.drop(id, name);
    claims.release([id], name);
  }
  return set.objects.filter((object) => !given.has(object) && !used.has(object));
}

/** Kinds that the cluster does not seem to serve, and that the owner may have objects of. */
function stillOwned({ set, earlier }: Run): readonly GroupKind[] {
  return set.omitted.filter((each) =>
    earlier.some(({ group, kind }) => each.group === group && each.kind === kind),
  );
}

/** From now on exactly this set is the owner's, and what is of kinds that still wait to be pruned. */
async function settle(
  { parts, owner, name, set, hooks, signal }: Run,
  waiting: readonly GroupKind[],
): Promise<void> {
  const { records, claims, parents, finished, rules } = parts;
  records.keepOnly(name, [...set.ids]);
  rules.keepOnly(name, set.ids);
  claims.keepOnly(set.ids, name);
  finished.keepOnly(name, set.ids);
  const hookKinds = hooks.map(({ resource }) => resource);
  await parents.write(owner, [...set.resources, ...hookKinds, ...waiting], signal);
  // They may wait for what they can take now.
  for (const taker of handsOverTo(owner)) if (!claims.isSettled(taker)) parts.notify(taker);
}

function isInstalled({ status }: BundleDeployment): boolean {
  return (status?.activeBundle ?? '') !== '';
}
