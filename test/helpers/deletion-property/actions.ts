import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { ApiError } from '../../../core/kube/api-error.ts';
import { eventually, patiently } from '../eventually.ts';
import { aBundleDeployment } from '../objects.ts';
import type { System } from '../system.ts';
import {
  aCustom,
  adoptionOf,
  aMap,
  customKind,
  deploymentCount,
  hasNamespace,
  idOf,
  idsOf,
  keepsDefinition,
  nameOf,
  ownNamespace,
  places,
  sharing,
  type Version,
  versions,
} from './content.ts';
import { bearsMarks, isMade, isShared, type Model } from './model.ts';
import type { Site } from './site.ts';

export interface Stage {
  readonly site: Site;
  readonly system: System;
  readonly model: Model;
  readonly source: (index: number, version: Version) => BundleSource;
  /** Waits until core has done all that it was asked for. */
  readonly settle: () => Promise<void>;
}

/** One thing that a user does; returns how to tell it, or undefined where there was nothing to do it to. */
type Action = (stage: Stage, choice: Choice) => Promise<string | undefined>;

/** Draws of one step: another step's number of draws changes nothing. */
export class Choice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  of<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  deployment(): number {
    return this.below(deploymentCount);
  }

  version(): Version {
    return this.of(versions) ?? 1;
  }
}

function deploymentKey(index: number) {
  return { resource: bundleDeploymentResource, key: { name: nameOf(index) } };
}

/** Applies any version: an installation, an upgrade or a step back. */
async function apply(stage: Stage, choice: Choice): Promise<string | undefined> {
  return await applyVersion(stage, choice.deployment(), choice.version());
}

async function applyVersion(
  { site, model, source }: Stage,
  index: number,
  version: Version,
): Promise<string> {
  const template = { spec: { source: source(index, version) } };
  if (model.deployment(index).version === undefined) {
    const fresh = aBundleDeployment({ name: nameOf(index), source: source(index, version) });
    const { spec, ...rest } = fresh as KubernetesObject & { spec: object };
    const adoption = adoptionOf(index);
    const policy = index === keepsDefinition ? { deletionPolicy: 'KeepCRDs' } : {};
    const fields = { ...spec, ...policy, ...(adoption === undefined ? {} : { adoption }) };
    await site.client.create(bundleDeploymentResource, { ...rest, spec: fields });
  } else {
    await site.client.patch(deploymentKey(index), { spec: { template } }, { type: 'merge' });
  }
  model.wants(index, version);
  return `apply ${nameOf(index)} v${version}`;
}

async function setPolicy({ site, model }: Stage, choice: Choice): Promise<string | undefined> {
  const index = choice.deployment();
  const deletionPolicy = choice.of(['KeepCRDs', 'Orphan', ...anyPolicy(index)]) ?? null;
  if (model.deployment(index).version === undefined) return undefined;
  await site.client.patch(deploymentKey(index), { spec: { deletionPolicy } }, { type: 'merge' });
  return `policy ${nameOf(index)} ${deletionPolicy}`;
}

/** Custom resources of others may be of the kind of the one whose CRD stays. */
function anyPolicy(index: number): readonly string[] {
  return index === keepsDefinition ? [] : ['Delete', 'Delete'];
}

async function remove(stage: Stage, choice: Choice): Promise<string | undefined> {
  const index = choice.deployment();
  return await removeAs(stage, index, choice.below(4) === 0 ? 'Orphan' : 'Background');
}

async function removeAs(
  { site, model }: Stage,
  index: number,
  propagationPolicy: 'Orphan' | 'Background',
): Promise<string | undefined> {
  const live = await site.deployment(nameOf(index));
  if (live === undefined || model.deployment(index).version === undefined) return undefined;
  const { deletionPolicy } = live['spec'] as { deletionPolicy?: string };
  if (propagationPolicy === 'Orphan' || deletionPolicy === 'Orphan') {
    for (const [id, object] of await site.content()) {
      if (isMade(object, live) && model.isSettledContent(index, id) && !isShared(id)) {
        model.left.set(id, object.metadata.uid);
        model.mayReturn.add(`${nameOf(index)}:${id}`);
      }
    }
  }
  const { resource, key } = deploymentKey(index);
  await site.client.delete(resource, key, { propagationPolicy });
  model.isDeleted(index);
  return `delete ${nameOf(index)} (${propagationPolicy}, policy ${deletionPolicy})`;
}

async function recreate(stage: Stage, choice: Choice): Promise<string | undefined> {
  const [index, version] = [choice.deployment(), choice.version()];
  const removed = await removeAs(stage, index, 'Background');
  if (removed === undefined) return undefined;
  await isGone(stage, index);
  return `${removed}, then ${await applyVersion(stage, index, version)}`;
}

async function isGone({ site }: Stage, index: number): Promise<void> {
  await eventually(async () => {
    const live = await site.deployment(nameOf(index));
    if (live !== undefined) throw new Error(`not gone: ${JSON.stringify(live)}`);
  }, patiently);
}

/** The cluster was lost, or the deployment let go: its objects are there, and it has another UID. */
async function restoreDeployment(stage: Stage, choice: Choice): Promise<string | undefined> {
  const { site, system, model } = stage;
  const [index, version] = [choice.deployment(), choice.version()];
  const live = await site.deployment(nameOf(index));
  if (live === undefined || model.deployment(index).version === undefined) return undefined;
  await stage.settle();
  await system.kill();
  for (const [id, object] of await site.content()) {
    if (!isMade(object, live)) continue;
    model.left.set(id, object.metadata.uid);
    model.strangers.add(id);
    model.mayReturn.add(`${nameOf(index)}:${id}`);
  }
  const target = deploymentKey(index);
  await site.client.patch(target, { metadata: { finalizers: null } }, { type: 'merge' });
  await site.client.delete(target.resource, target.key);
  model.isDeleted(index);
  await system.restart();
  const told = `restore ${nameOf(index)} with another UID`;
  return `${told}, ${await applyVersion(stage, index, version)}`;
}

async function restart({ system }: Stage, choice: Choice): Promise<string> {
  const isCrash = choice.below(2) === 0;
  if (isCrash) await system.kill();
  else await system.terminate();
  await system.restart();
  return isCrash ? 'crash and restart' : 'restart';
}

async function handOver({ site }: Stage, choice: Choice): Promise<string | undefined> {
  const [from = 0, to = 0] = choice.below(2) === 0 ? sharing : sharing.toReversed();
  const given = choice.below(3) > 0 ? nameOf(to) : null;
  const patch = { metadata: { annotations: { [annotation.handOver]: given } } };
  await site.client.patch(deploymentKey(from), patch, { type: 'merge' });
  return `hand over ${nameOf(from)} to ${given}`;
}

/** An object that bears marks of ours, other than a Namespace or CRD. */
async function anObject(
  { site, model }: Stage,
  choice: Choice,
): Promise<KubernetesObject | undefined> {
  const owned = [...(await site.content()).values()]
    .filter((object) => bearsMarks(object) && object.metadata.namespace !== undefined)
    .filter((object) => !model.foreign.has(idOf(object)));
  return choice.of(owned);
}

async function deleteObject(stage: Stage, choice: Choice): Promise<string | undefined> {
  const object = await anObject(stage, choice);
  if (object === undefined) return undefined;
  stage.model.drop(idOf(object));
  await stage.site.delete(idOf(object));
  return `delete ${idOf(object)}`;
}

/** As a backup does: with all labels and annotations, and a UID of its own. */
async function restoreObject(stage: Stage, choice: Choice): Promise<string | undefined> {
  const { site, model } = stage;
  const object = await anObject(stage, choice);
  if (object === undefined) return undefined;
  const id = idOf(object);
  model.drop(id);
  model.strangers.add(id);
  await site.delete(id);
  await site.create(unborn(object));
  return `restore ${id}`;
}

async function copyObject(stage: Stage, choice: Choice): Promise<string | undefined> {
  const { site, model } = stage;
  const object = await anObject(stage, choice);
  if (object === undefined) return undefined;
  const { metadata, ...rest } = unborn(object);
  const namespace = choice.of(places) ?? places[0];
  // Under its own name in another namespace, or under another name.
  const isOther = namespace !== metadata.namespace && choice.below(2) === 0;
  const name = isOther ? (metadata.name ?? '') : `copy-${choice.below(1_000_000)}`;
  const copy = await site.create({ ...rest, metadata: { ...metadata, namespace, name } });
  model.addForeign(copy);
  return `copy ${idOf(object)} to ${idOf(copy)}`;
}

function unborn({ metadata, ...rest }: KubernetesObject): KubernetesObject {
  const { name, namespace, labels, annotations } = metadata;
  const kept = { name, namespace, labels, annotations } as ObjectMeta;
  return { ...rest, metadata: kept };
}

async function keep(stage: Stage, choice: Choice): Promise<string | undefined> {
  const object = await anObject(stage, choice);
  if (object === undefined) return undefined;
  // What is in a kind goes with the kind.
  if (!['ConfigMap', 'Secret'].includes(object.kind)) return undefined;
  const id = idOf(object);
  // While core deletes a namespace, nobody could keep what is in it.
  if (object.metadata.namespace === ownNamespace) await stage.settle();
  const annotated = await stage.site.merge(id, {
    metadata: { annotations: { [annotation.keep]: 'true' } },
  });
  stage.model.kept.set(id, annotated.metadata.uid);
  return `keep ${id}`;
}

/** Takes labels of ours off, or the mark. */
async function unlabel(stage: Stage, choice: Choice): Promise<string | undefined> {
  const object = await anObject(stage, choice);
  const isMark = choice.below(2) === 0;
  if (object === undefined) return undefined;
  const labels = { [label.ownerKind]: null, [label.ownerName]: null, [label.partOf]: null };
  const annotations = { [annotation.trackingID]: null };
  stage.model.strangers.add(idOf(object));
  await stage.site.merge(idOf(object), { metadata: isMark ? { annotations } : { labels } });
  return `take the ${isMark ? 'mark' : 'labels'} off ${idOf(object)}`;
}

async function labelForeign({ site, model }: Stage, choice: Choice): Promise<string | undefined> {
  const plain = [...model.foreign.keys()].filter((id) => id.includes('/foreign-'));
  const id = choice.of(plain);
  if (id === undefined) return undefined;
  const name = nameOf(choice.deployment());
  const labels = { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: name };
  model.foreign.set(id, await site.merge(id, { metadata: { labels } }));
  return `label ${id} as ${name}'s`;
}

/** Takes a name that a deployment may want, while it is free. */
async function squat({ site, model }: Stage, choice: Choice): Promise<string | undefined> {
  const [index, version] = [choice.deployment(), choice.version()];
  const maps = [...idsOf(index, version)].filter(
    (each) => each.startsWith('ConfigMap/') && !each.includes(ownNamespace),
  );
  const id = choice.of(maps);
  if (id === undefined || choice.below(2) === 0) return undefined;
  const [, namespace = '', name = ''] = id.split('/');
  model.addForeign(await site.create(aMap(namespace, name, { of: 'a user' })));
  return `take the name ${id}`;
}

/** Writes a custom resource of a CRD that is to outlive its deployment. */
async function writeCustom({ site, model }: Stage, choice: Choice): Promise<string | undefined> {
  const custom = aCustom(keepsDefinition, `foreign-custom-${choice.below(1_000_000)}`);
  model.addForeign(await site.create(custom));
  return `create ${idOf(custom)}`;
}

/** Writes into the namespace of a deployment. While core deletes that, nobody could prevent it. */
async function writeInside(stage: Stage, choice: Choice): Promise<string | undefined> {
  const { site, model } = stage;
  if (model.deployment(hasNamespace).version === undefined) return undefined;
  await stage.settle();
  const name = `foreign-guest-${choice.below(1_000_000)}`;
  model.addForeign(await site.create(aMap(ownNamespace, name, { of: 'a user' })));
  return `create ${name} in ${ownNamespace}`;
}

/** Deletes a CRD, and with it, knowingly, all of its custom resources. */
async function takeKindAway({ site, model }: Stage, choice: Choice): Promise<string | undefined> {
  const kind = customKind(choice.below(2));
  const id = `CustomResourceDefinition//${kind.toLowerCase()}s.property.example.com`;
  if ((await site.get(id)) === undefined) return undefined;
  const known = [model.foreign, model.left, model.kept, model.lasting].flatMap((each) => [
    ...each.keys(),
  ]);
  for (const each of known) if (each.startsWith(`${kind}/`)) model.drop(each);
  model.drop(id);
  await site.delete(id);
  return `delete ${id}`;
}

async function rest({ settle }: Stage): Promise<string> {
  await settle();
  return 'wait for core';
}

/** With how often each is done, of all. */
const actions: readonly (readonly [weight: number, action: Action])[] = [
  [40, apply],
  [6, setPolicy],
  [10, remove],
  [5, recreate],
  [2, restoreDeployment],
  [2, restart],
  [4, handOver],
  [8, deleteObject],
  [8, restoreObject],
  [8, copyObject],
  [5, keep],
  [6, unlabel],
  [6, labelForeign],
  [3, squat],
  [3, writeCustom],
  [2, writeInside],
  [2, takeKindAway],
  [6, rest],
];

/** Does one thing, and returns what; what the server refuses a user is told as such. */
export async function act(stage: Stage, random: () => number): Promise<string> {
  const choice = new Choice(random);
  const deck = actions.flatMap(([weight, action]) => Array.from({ length: weight }, () => action));
  const action = choice.of(deck) ?? rest;
  try {
    return (await action(stage, choice)) ?? `nothing to ${action.name}`;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `refused: ${action.name}: ${error.message}`;
  } finally {
    stage.model.takeOver();
  }
}
