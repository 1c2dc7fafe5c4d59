import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { ApiError } from '../../../core/platform/kube/index.ts';
import { eventually, patiently } from '../eventually.ts';
import { aBundleDeployment } from '../objects.ts';
import { adoptionOf, keepsDefinition, nameOf, sharing, type Version } from './content.ts';
import { isMade, isShared } from './model.ts';
import {
  copyObject,
  deleteObject,
  keep,
  labelForeign,
  restoreObject,
  squat,
  takeKindAway,
  unlabel,
  writeCustom,
  writeInside,
} from './object-actions.ts';
import { type Action, Choice, type Stage } from './stage.ts';

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

/** Others' custom resources may belong to the kind whose CRD stays. */
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

async function restart({ system, model }: Stage, choice: Choice): Promise<string> {
  const isCrash = choice.below(2) === 0;
  model.interrupts();
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

/**
 * Performs one action, and returns its description; a server's refusal of the user becomes a
 * description as well.
 */
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
