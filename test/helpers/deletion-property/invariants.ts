import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { conditionOf } from '../kubectl.ts';
import {
  contentOf,
  idOf,
  idsOf,
  indexOf,
  nameOf,
  sharing,
  type Version,
  versions,
} from './content.ts';
import { bearsMarks, isMade, labelledName, type Model } from './model.ts';
import type { Site } from './site.ts';

/** A look at everything at one time. */
export interface Look {
  readonly content: ReadonlyMap<string, KubernetesObject>;
  readonly deployments: ReadonlyMap<string, KubernetesObject>;
  readonly bundles: ReadonlyMap<string, KubernetesObject>;
}

export async function lookAt(site: Site): Promise<Look> {
  const deployments = byName(await site.deployments());
  const bundles = byName(await site.bundles());
  return { deployments, bundles, content: await site.content() };
}

function byName(objects: readonly KubernetesObject[]): ReadonlyMap<string, KubernetesObject> {
  return new Map(objects.map((object) => [object.metadata.name ?? '', object]));
}

/**
 * Violations that may never occur, in any state of core's work: an object that must stay is missing
 * or changed.
 */
export function losses({ content }: Look, model: Model): readonly string[] {
  const found: string[] = [];
  for (const [id, wanted] of model.foreign) {
    const live = content.get(id);
    if (live === undefined) found.push(`foreign ${id} is gone`);
    else if (essence(live) !== essence(wanted)) {
      found.push(`foreign ${id} was changed from ${essence(wanted)} to ${essence(live)}`);
    }
  }
  for (const why of ['left', 'kept', 'lasting'] as const) {
    for (const [id, uid] of model[why]) {
      const live = content.get(id)?.metadata.uid;
      if (live !== uid) found.push(`${why} ${id} of UID ${uid} is gone; there is ${live}`);
    }
  }
  return found;
}

function essence({ metadata, ...rest }: KubernetesObject): string {
  const { uid, labels, annotations, ownerReferences, finalizers, deletionTimestamp } = metadata;
  const own = { uid, labels, annotations, ownerReferences, finalizers, deletionTimestamp };
  return JSON.stringify([rest['data'], rest['spec'], own]);
}

/** Differences from the final state, in which core has finished everything. */
export function unfinished(look: Look, model: Model): readonly string[] {
  const living = model.deployments.flatMap(({ version }, index) => {
    const object = look.deployments.get(nameOf(index));
    return version === undefined ? [] : [{ index, version, object }];
  });
  const names = new Set(living.map(({ index }) => nameOf(index)));
  const found = [...look.deployments.keys()]
    .filter((name) => !names.has(name))
    .map(
      (name) => `${name} is not gone: ${JSON.stringify(look.deployments.get(name)?.['status'])}`,
    );
  for (const { index, version, object } of living) {
    if (object === undefined) found.push(`${nameOf(index)} is gone`);
    else
      found.push(
        ...problemsOf({ index, version, object: object as BundleDeployment }, look, model),
      );
  }
  return [...found, ...withoutOwner(look, model)];
}

interface Living {
  readonly index: number;
  readonly version: Version;
  readonly object: BundleDeployment;
}

function problemsOf(living: Living, look: Look, model: Model): readonly string[] {
  const { index, version, object } = living;
  const { status = {} } = object;
  const told = `${nameOf(index)} v${version}: ${JSON.stringify(status.conditions)}`;
  if (status.observedGeneration !== object.metadata.generation) return [`not observed: ${told}`];
  const problems = isRefused(object)
    ? refusedProblems(living, look, model)
    : activeProblems(living, look, model);
  return problems.map((problem) => `${problem}; ${told}`);
}

/** A foreign object blocks it; the version before stays installed. */
function refusedProblems(living: Living, look: Look, model: Model): readonly string[] {
  if (squatters(living, look).length === 0) return ['refused for nothing'];
  const active = activeVersion(living.object, look);
  if (active === undefined) return [];
  const mayBePruned = (id: string): boolean =>
    model.interrupted.has(living.index) && !idsOf(living.index, living.version).has(id);
  return [...idsOf(living.index, active)]
    .filter((id) => !look.content.has(id) && !model.deleted.has(id) && !mayBePruned(id))
    .map((id) => `${id} of the active v${active} is missing`);
}

function activeProblems(living: Living, look: Look, model: Model): readonly string[] {
  const { version, object } = living;
  if (conditionOf(object, 'Installed')?.status !== 'True') return ['not installed'];
  if (activeVersion(object, look) !== version) return ['not active'];
  const progressing = conditionOf(object, 'Progressing');
  const isHeld = handsOver(living) || holdsRestored(living, look, model);
  if (progressing !== undefined && !isHeld) return ['at work'];
  return missing(living, look);
}

/** Dropped objects wait for the deployment to which ownership is transferred. */
function handsOver({ index, object }: Pick<Living, 'index' | 'object'>): boolean {
  return sharing.some((each) => each === index) && holdsPrune(object);
}

/** The user recreated it after core had deleted it: nobody asked core to delete the new one. */
function holdsRestored({ index, version, object }: Living, look: Look, model: Model): boolean {
  const dropped = versions.flatMap((each) => [...idsOf(index, each)]);
  const isRestored = dropped.some(
    (id) => model.strangers.has(id) && look.content.has(id) && !idsOf(index, version).has(id),
  );
  return isRestored && holdsPrune(object);
}

function holdsPrune(object: KubernetesObject): boolean {
  return conditionOf(object, 'Progressing')?.reason === 'PruneHeld';
}

const refusal = /has no owner|belong(s|ed) to|has the labels of|is controlled by/;

/** A foreign object blocks it, and the user must decide. */
export function isRefused(object: KubernetesObject): boolean {
  const installed = conditionOf(object, 'Installed');
  return installed?.status === 'False' && refusal.test(installed.message);
}

function squatters({ index, version, object }: Living, { content }: Look): readonly string[] {
  return [...idsOf(index, version)].filter((id) => {
    const live = content.get(id);
    return live !== undefined && !isMade(live, object);
  });
}

function missing({ index, version, object }: Living, look: Look): readonly string[] {
  return contentOf(index, version).flatMap((wanted) => {
    const id = idOf(wanted);
    const live = look.content.get(id);
    if (live === undefined) return [`${id} is missing`];
    if (live.metadata.deletionTimestamp !== undefined) return [`${id} is being deleted`];
    if (isGivenAway(object, live)) return [];
    const owner = look.deployments.get(labelledName(live) ?? '');
    // Another deployment may own it after a transfer of ownership.
    if (owner === undefined || !isMade(live, owner)) return [`${id} has not its owner's marks`];
    if (owner.metadata.name !== object.metadata.name) return [];
    const differs = Object.entries(dataOf(wanted)).some(
      ([key, value]) => dataOf(live)[key] !== value,
    );
    return differs ? [`${id} differs: ${JSON.stringify(dataOf(live))}`] : [];
  });
}

/**
 * The deployment that it was handed over to may have been restored since, with another UID and in a
 * version without it: then it is kept, and nobody's.
 */
function isGivenAway({ metadata }: KubernetesObject, live: KubernetesObject): boolean {
  const taker = metadata.annotations?.[annotation.handOver];
  return taker !== undefined && taker === labelledName(live);
}

/** Objects that bear marks of ours, and that neither a deployment nor the user has. */
function withoutOwner(look: Look, model: Model): readonly string[] {
  return [...look.content.values()]
    .filter((object) => bearsMarks(object) && !model.strangers.has(idOf(object)))
    .filter((object) => !isOwned(object, look))
    .map((object) => `${idOf(object)} has no owner: ${JSON.stringify(object.metadata)}`);
}

function isOwned(object: KubernetesObject, look: Look): boolean {
  const owner = look.deployments.get(labelledName(object) ?? '') as BundleDeployment | undefined;
  if (owner === undefined || !isMade(object, owner)) return false;
  const index = indexOf(owner.metadata.name ?? '');
  if (handsOver({ index, object: owner }) || isRefused(owner)) return true;
  const active = activeVersion(owner, look);
  return active !== undefined && idsOf(index, active).has(idOf(object));
}

function activeVersion({ status }: BundleDeployment, { bundles }: Look): Version | undefined {
  return versionOf(bundles.get(status?.activeBundle ?? ''));
}

function versionOf(bundle: KubernetesObject | undefined): Version | undefined {
  const text = JSON.stringify(bundle?.['spec'] ?? {});
  return versions.find((version) => text.includes(`:v${version}"`));
}

function dataOf(object: KubernetesObject): Readonly<Record<string, unknown>> {
  return (object['data'] as Readonly<Record<string, unknown>> | undefined) ?? {};
}
