import type { KubernetesObject } from '../../../api/meta.ts';
import { configMapResource, deploymentResource } from '../../../core/platform/kube/index.ts';
import { rounded } from '../report.ts';
import { timeUntil } from './object-watch.ts';
import { measurePhase, type Outcome, type Scale } from './phase.ts';

/** Deletes one of all ConfigMaps, and waits for another one in its place. */
export async function repairDeleted(scale: Scale): Promise<Outcome> {
  const { client } = scale.kube;
  const watched = { client, resource: configMapResource, key: oneOf(scale) };
  return await measurePhase(scale, async (signal) => {
    const { metadata } = await client.get(watched.resource, watched.key, signal);
    const done = () => client.delete(watched.resource, watched.key, { signal });
    const wanted = (object: KubernetesObject) => object.metadata.uid !== metadata.uid;
    const { milliseconds } = await timeUntil(watched, { done, wanted }, signal);
    return { 'ms to repair': rounded(milliseconds) };
  });
}

/** Changes one field of one of all Deployments, and waits until it is what it was. */
export async function repairEdited(scale: Scale): Promise<Outcome> {
  const { client } = scale.kube;
  const watched = { client, resource: deploymentResource, key: oneOf(scale) };
  const path = '/spec/template/spec/containers/0/image';
  const patch = [{ op: 'replace', path, value: 'example.invalid/edited:1' }];
  return await measurePhase(scale, async (signal) => {
    const before = await client.get(watched.resource, watched.key, signal);
    const changes = (before.metadata.generation ?? 0) + 2;
    const done = () => client.patch(watched, patch, { type: 'json', signal });
    const wanted = ({ metadata }: KubernetesObject) => metadata.generation === changes;
    const { milliseconds } = await timeUntil(watched, { done, wanted }, signal);
    return { 'ms to repair': rounded(milliseconds) };
  });
}

function oneOf({ apps }: Scale) {
  return { namespace: 'default', name: apps[Math.floor(apps.length / 2)] ?? '' };
}
