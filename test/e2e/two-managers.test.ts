import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const place = { kubectl, registry, prefix: 'two-managers' };
const names = Array.from({ length: 8 }, (_, n) => `two-${n}`);
const [giver = '', taker = ''] = names;
const shared = aConfigMap('two-shared', { of: 'both' });

const systems: System[] = [];

/** As while somebody updates core without leader election: both take all of them for theirs. */
beforeAll(async () => {
  for (let n = 0; n < 2; n += 1) systems.push(await System.start({ kubeconfig, registry }));
});

afterAll(async () => {
  for (const system of systems) await system.stop();
});

async function rollOut(version: number, objects: (name: string) => object[]): Promise<void> {
  for (const name of names) {
    await rollOutPlain(place, { name, version, objects: objects(name) });
  }
  for (const name of names) {
    const { generation } = (await kubectl.get('bundledeployment', name)).metadata;
    await eventually(async () => {
      const found = await kubectl.get('bundledeployment', name);
      expect(found['status']).toMatchObject({ observedGeneration: generation });
      expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
      expect(conditionOf(found, 'Progressing')).toBeUndefined();
    }, patiently);
  }
}

async function owned(): Promise<readonly KubernetesObject[]> {
  return await kubectl.list('configmaps', 'core.rukpak.io/owner-kind=BundleDeployment');
}

function namesOf(objects: readonly KubernetesObject[]): readonly string[] {
  return objects.map(({ metadata: { name = '' } }) => name).toSorted();
}

test('two managers at once delete nothing that is wanted, and leave nothing that is not', {
  tags: 'long',
}, async () => {
  const foreign = aConfigMap('two-foreign', { of: 'others' });
  await kubectl.apply(foreign);
  const kept = (name: string) => aConfigMap(`${name}-kept`);
  await rollOut(1, (name) => [
    kept(name),
    aConfigMap(`${name}-dropped`),
    ...(name === giver ? [shared] : []),
  ]);
  const before = new Map((await owned()).map(({ metadata: { name, uid } }) => [name, uid]));
  await kubectl.must(['annotate', 'bundledeployment', giver, `core.rukpak.io/hand-over=${taker}`]);
  await rollOut(2, (name) => [
    kept(name),
    aConfigMap(`${name}-added`),
    ...(name === taker ? [shared] : []),
  ]);
  const wanted = names.flatMap((name) => [`${name}-added`, `${name}-kept`]);
  await eventually(async () => {
    const made = await owned();
    expect(namesOf(made)).toEqual([...wanted, 'two-shared'].toSorted());
    // Nothing of them was made anew.
    const still = made.filter(({ metadata }) => !metadata.name?.endsWith('-added'));
    for (const { metadata } of still) expect(metadata.uid).toBe(before.get(metadata.name));
  }, patiently);
  await kubectl.deleteAll('bundledeployments');
  expect(await owned()).toEqual([]);
  expect(await kubectl.get('configmap', 'two-foreign', 'default')).toMatchObject(foreign);
  await kubectl.deleteNamed('configmap', ['two-foreign'], { namespace: 'default' });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});
