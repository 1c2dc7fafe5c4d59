import type { KubernetesObject, ObjectMeta } from '../../../api/meta.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import {
  aCustom,
  aMap,
  customKind,
  hasDefinition,
  hasNamespace,
  idOf,
  idsOf,
  keepsDefinition,
  nameOf,
  ownNamespace,
  places,
} from './content.ts';
import { bearsMarks } from './model.ts';
import type { Choice, Stage } from './stage.ts';

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

export async function deleteObject(stage: Stage, choice: Choice): Promise<string | undefined> {
  const object = await anObject(stage, choice);
  if (object === undefined) return undefined;
  stage.model.drop(idOf(object));
  await stage.site.delete(idOf(object));
  return `delete ${idOf(object)}`;
}

/** As a backup does: with all labels and annotations, and a UID of its own. */
export async function restoreObject(stage: Stage, choice: Choice): Promise<string | undefined> {
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

export async function copyObject(stage: Stage, choice: Choice): Promise<string | undefined> {
  const { site, model } = stage;
  const object = await anObject(stage, choice);
  // A copy of another kind is deleted with the CRD, when its deployment is deleted.
  if (object === undefined || object.kind === customKind(hasDefinition)) return undefined;
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

export async function keep(stage: Stage, choice: Choice): Promise<string | undefined> {
  const object = await anObject(stage, choice);
  if (object === undefined) return undefined;
  const id = idOf(object);
  // While core deletes a namespace or a CRD, its content cannot be kept.
  const isCustom = !['ConfigMap', 'Secret'].includes(object.kind);
  if (isCustom || object.metadata.namespace === ownNamespace) await stage.settle();
  const annotated = await stage.site.merge(id, {
    metadata: { annotations: { [annotation.keep]: 'true' } },
  });
  stage.model.kept.set(id, annotated.metadata.uid);
  return `keep ${id}`;
}

/** Takes labels of ours off, or the mark. */
export async function unlabel(stage: Stage, choice: Choice): Promise<string | undefined> {
  const object = await anObject(stage, choice);
  const isMark = choice.below(2) === 0;
  if (object === undefined) return undefined;
  const labels = { [label.ownerKind]: null, [label.ownerName]: null, [label.partOf]: null };
  const annotations = { [annotation.trackingID]: null };
  stage.model.strangers.add(idOf(object));
  await stage.site.merge(idOf(object), { metadata: isMark ? { annotations } : { labels } });
  return `take the ${isMark ? 'mark' : 'labels'} off ${idOf(object)}`;
}

export async function labelForeign(
  { site, model }: Stage,
  choice: Choice,
): Promise<string | undefined> {
  const plain = [...model.foreign.keys()].filter((id) => id.includes('/foreign-'));
  const id = choice.of(plain);
  if (id === undefined) return undefined;
  const name = nameOf(choice.deployment());
  const labels = { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: name };
  model.foreign.set(id, await site.merge(id, { metadata: { labels } }));
  return `label ${id} as ${name}'s`;
}

/** Takes a name that a deployment may want, while it is free. */
export async function squat({ site, model }: Stage, choice: Choice): Promise<string | undefined> {
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

/**
 * Writes a custom resource of a CRD that is to outlive its deployment. While a user's deletion of
 * the CRD goes on, the API server may still accept one, and deletes it.
 */
export async function writeCustom(
  { site, model }: Stage,
  choice: Choice,
): Promise<string | undefined> {
  const custom = aCustom(keepsDefinition, `foreign-custom-${choice.below(1_000_000)}`);
  const definition = await site.get(definitionID(keepsDefinition));
  if (definition?.metadata.deletionTimestamp !== undefined) return undefined;
  model.addForeign(await site.create(custom));
  return `create ${idOf(custom)}`;
}

/**
 * Writes into the namespace of a deployment. While core deletes that, nobody could prevent the
 * loss.
 */
export async function writeInside(stage: Stage, choice: Choice): Promise<string | undefined> {
  const { site, model } = stage;
  if (model.deployment(hasNamespace).version === undefined) return undefined;
  await stage.settle();
  const name = `foreign-guest-${choice.below(1_000_000)}`;
  model.addForeign(await site.create(aMap(ownNamespace, name, { of: 'a user' })));
  return `create ${name} in ${ownNamespace}`;
}

/** Deletes a CRD, and with it, knowingly, all of its custom resources. */
export async function takeKindAway(
  { site, model }: Stage,
  choice: Choice,
): Promise<string | undefined> {
  const index = choice.below(2);
  const kind = customKind(index);
  const id = definitionID(index);
  if ((await site.get(id)) === undefined) return undefined;
  const known = [model.foreign, model.left, model.kept, model.lasting].flatMap((each) => [
    ...each.keys(),
  ]);
  for (const each of known) if (each.startsWith(`${kind}/`)) model.drop(each);
  model.drop(id);
  await site.delete(id);
  return `delete ${id}`;
}

function definitionID(index: number): string {
  return `CustomResourceDefinition//${customKind(index).toLowerCase()}s.property.example.com`;
}
