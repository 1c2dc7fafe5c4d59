import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const labels = { app: 'kubectl-prune' };
const theirs = 'kubectl-prune-theirs';
const ours = 'kubectl-prune-ours';

let system: System;

beforeAll(async () => {
  vi.stubEnv('KUBECTL_APPLYSET', 'true');
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  const left = ['-l', 'app=kubectl-prune', '--namespace=default'];
  await kubectl.must(['delete', 'configmap', ...left]);
  await kubectl.deleteNamed('secret', ['theirs'], { namespace: 'default', ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
});

afterAll(async () => {
  await system.stop();
  vi.unstubAllEnvs();
});

function aLabelled(name: string): KubernetesObject {
  const made = aConfigMap(name) as KubernetesObject;
  return { ...made, metadata: { ...made.metadata, labels } };
}

async function rollOut(version: number, objects: readonly object[]): Promise<void> {
  const place = { kubectl, registry, prefix: 'kubectl' };
  await rollOutPlain(place, { name: 'pruned', version, objects });
  const { generation } = (await kubectl.get('bundledeployment', 'pruned')).metadata;
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'pruned');
    expect(found['status']).toMatchObject({ observedGeneration: generation });
    expect(conditionOf(found, 'Installed')?.status).toMatch(/True|False/);
  });
}

async function uidOf(name: string): Promise<string | undefined> {
  return (await kubectl.get('configmap', name, 'default')).metadata.uid;
}

async function setOf(name: string): Promise<string | undefined> {
  const { labels: live } = (await kubectl.get('configmap', name, 'default')).metadata;
  return live?.['applyset.kubernetes.io/part-of'];
}

/** `kubectl apply --prune` of these alone. */
async function prune(
  flags: readonly string[],
  ...objects: readonly object[]
): Promise<{ readonly code: number }> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  const apply = ['apply', '-f', '-', '-n', 'default', '--prune', ...flags];
  return await kubectl.run(apply, JSON.stringify(list));
}

test('with a selector of ours it deletes nothing that core applied', async () => {
  await rollOut(1, [aLabelled(ours)]);
  const uid = await uidOf(ours);
  const flags = ['-l', 'app=kubectl-prune', '--prune-allowlist=core/v1/ConfigMap'];
  expect(await prune(flags, aLabelled(theirs))).toMatchObject({ code: 0 });
  expect(await uidOf(ours)).toBe(uid);
});

test('with an ApplySet of its own it deletes nothing that core applied, nor core what is its', async () => {
  await rollOut(1, [aLabelled(ours)]);
  const [uid, mark] = [await uidOf(ours), await setOf(ours)];
  const set = ['--applyset=secrets/theirs'];
  const [first, second] = [aLabelled(theirs), aLabelled('kubectl-prune-second')];
  expect(await prune(set, first, second)).toMatchObject({ code: 0 });
  // kubectl puts its mark over core's, and core its own back.
  expect(await prune(set, first, aLabelled(ours))).toMatchObject({ code: 0 });
  await eventually(async () => expect(await setOf(ours)).toBe(mark));
  expect(await prune(set, first)).toMatchObject({ code: 0 });
  expect(await kubectl.exists('configmap', 'kubectl-prune-second', 'default')).toBe(false);
  expect(await uidOf(ours)).toBe(uid);

  const its = await uidOf(theirs);
  await rollOut(2, [aLabelled(ours), aLabelled(theirs)]);
  const refused = conditionOf(await kubectl.get('bundledeployment', 'pruned'), 'Installed');
  expect(refused?.message).toContain(
    `ConfigMap "${theirs}" in namespace "default" exists and cannot be imported`,
  );
  await kubectl.deleteNamed('bundledeployment', ['pruned']);
  expect(await uidOf(theirs)).toBe(its);
  expect(await kubectl.exists('configmap', ours, 'default')).toBe(false);
});
