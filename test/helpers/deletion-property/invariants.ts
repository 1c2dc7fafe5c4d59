import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { conditionOf } from '../kubectl.ts';
import { contentOf, idOf, idsOf, nameOf, type Version, versions } from './content.ts';
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

/** What must never happen, whatever core is at work on: nothing that is to stay is gone or changed. */
export function losses({ content }: Look, model: Model): readonly string[] {
  const found: string[] = [];
  for (const [id, wanted] of model.foreign) {
    const live = content.get(id);
    if (live === undefined) found.push(`foreign ${id} is gone`);
    else if (essence(live) !== essence(wanted)) {
      found.push(`foreign ${id} was changed from ${essence(wanted)} to ${essence(live)}`);
    }
  }
  for (const [why, known] of [['left', model.left] as const, ['kept', model.kept] as const]) {
    for (const [id, uid] of known) {
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

/** What is not yet, or not any more, as it has to be once core has done everything. */
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
    else found.push(...problemsOf({ index, version, object: object as BundleDeployment }, look));
  }
  return [...found, ...withoutOwner(look, model)];
}

interface Living {
  readonly index: number;
  readonly version: Version;
  readonly object: BundleDeployment;
}

function problemsOf(living: Living, look: Look): readonly string[] {
  const { index, version, object } = living;
  const { status = {}, metadata } = object;
  const told = `${nameOf(index)} v${version}: ${JSON.stringify(status.conditions)}`;
  if (status.observedGeneration !== metadata.generation) return [`not observed: ${told}`];
  if (isRefused(object)) return squatters(living, look).length > 0 ? [] : [`refused: ${told}`];
  if (conditionOf(object, 'Installed')?.status !== 'True') return [`not installed: ${told}`];
  if (versionOf(look.bundles.get(status.activeBundle ?? '')) !== version) {
    return [`not active: ${told}`];
  }
  const progressing = conditionOf(object, 'Progressing');
  if (progressing !== undefined && progressing.reason !== 'PruneHeld') return [`at work: ${told}`];
  return missing(living, look).map((problem) => `${problem}; ${told}`);
}

const refusal = /has no owner|belongs to|bears the labels|is controlled by/;

/** What stands in its way is somebody else's: that is for the user to decide. */
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
    const owner = look.deployments.get(labelledName(live) ?? '');
    // Another deployment may have it, where this one hands it over.
    if (owner === undefined || !isMade(live, owner)) return [`${id} has not its owner's marks`];
    if (owner.metadata.name !== object.metadata.name) return [];
    return Object.entries((wanted['data'] ?? {}) as object).flatMap(([key, value]) =>
      (live['data'] as Record<string, unknown> | undefined)?.[key] === value
        ? []
        : [`${id} differs: ${JSON.stringify(live['data'])}`],
    );
  });
}

/** Objects that bear marks of ours, and that neither a deployment nor the user has. */
function withoutOwner({ content, deployments, bundles }: Look, model: Model): readonly string[] {
  return [...content].flatMap(([id, object]) => {
    if (!bearsMarks(object) || model.strangers.has(id)) return [];
    const name = labelledName(object) ?? '';
    const owner = deployments.get(name);
    const index = model.deployments.findIndex((_, each) => nameOf(each) === name);
    if (owner === undefined || !isMade(object, owner)) {
      return [`${id} has no owner: ${JSON.stringify(object.metadata)}`];
    }
    const active = versionOf(bundles.get((owner as BundleDeployment).status?.activeBundle ?? ''));
    const has = active === undefined ? versions : [active];
    const isHeld = conditionOf(owner, 'Progressing')?.reason === 'PruneHeld' || isRefused(owner);
    return isHeld || has.some((version) => idsOf(index, version).has(id))
      ? []
      : [`${id} is not of ${name} v${active} any more`];
  });
}

function versionOf(bundle: KubernetesObject | undefined): Version | undefined {
  const text = JSON.stringify(bundle?.['spec'] ?? {});
  return versions.find((version) => text.includes(`:v${version}"`));
}
