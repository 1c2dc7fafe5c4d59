import { expect } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from './eventually.ts';
import type { Kubectl } from './kubectl.ts';

/** Kinds that say nothing about what was installed, and come and go by themselves. */
const restless = /^(events|leases|componentstatuses|endpoints|endpointslices|ipaddresses)(\.|$)/;

/** All objects of the cluster by `idOf`, of every kind that can be listed. */
export async function everyObject(
  kubectl: Kubectl,
): Promise<ReadonlyMap<string, KubernetesObject>> {
  // Kinds of other tests may go between the two requests.
  return await eventually(async () => {
    const names = await kubectl.must(['api-resources', '--verbs=list', '--output=name']);
    const kinds = names.split('\n').filter((name) => name !== '' && !restless.test(name));
    const objects = await kubectl.list(kinds.join(','));
    return new Map(objects.map((object) => [idOf(object), object]));
  });
}

/**
 * Waits until there is no object that was not there before, by `idOf`. Leases of ours too: others of
 * the cluster renew theirs all the time, and have namespaces of their own.
 */
export async function nothingIsLeft(kubectl: Kubectl, before: ReadonlySet<string>): Promise<void> {
  await eventually(async () => {
    const there = [...(await everyObject(kubectl)).keys()];
    expect(there.filter((each) => !before.has(each))).toEqual([]);
    const leases = (await kubectl.list('leases')).map(idOf);
    expect(leases.filter((each) => each.includes('rukpak'))).toEqual([]);
  }, patiently);
}

/** `Deployment.apps default/name`. */
export function idOf({ apiVersion, kind, metadata }: KubernetesObject): string {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
  const type = group === '' ? kind : `${kind}.${group}`;
  return `${type} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}
