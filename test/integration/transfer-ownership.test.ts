import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { ApplyEngine } from '../../core/apply/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { DiscoveryClient } from '../../core/platform/kube/discovery/discovery.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { CountingClient } from '../helpers/counting-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { inProcessJudge } from '../helpers/in-process-judge.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const namespace = `hand-over-${randomBytes(3).toString('hex')}`;
const [giver, taker] = [`${namespace}-giver`, `${namespace}-taker`];
const connection = connect({ userAgent: 'rukpak-core/test', kubeconfig: plane.kubeconfig });
const stop = new AbortController();

/** The engine of a process of its own, such as that of another class. */
interface Process {
  readonly engine: ApplyEngine;
  readonly client: CountingClient;
  /** Owners that it was told to look at. */
  readonly woken: string[];
}

function aProcess(): Process {
  const client = new CountingClient(connection.client);
  const engine = new ApplyEngine({
    client,
    discovery: new DiscoveryClient(connection.client),
    clock: systemClock,
    logger: silentLogger,
    judge: inProcessJudge,
    events: { event: () => undefined },
    systemNamespace: namespace,
    signal: stop.signal,
  });
  const woken: string[] = [];
  engine.onChange((owner) => void woken.push(owner));
  return { engine, client, woken };
}

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  await kubectl.must(['create', 'namespace', namespace]);
});

afterAll(async () => {
  stop.abort();
  for (const name of [giver, taker]) await kubectl.remove('bundledeployment', name);
  await kubectl.deleteNamed('namespace', [namespace], { wait: false, ignoreNotFound: true });
  await connection.close();
});

async function create(name: string): Promise<void> {
  const provisionerClassName = 'hand-over-test';
  const source = { type: 'image', image: { ref: 'x' } };
  const spec = { provisionerClassName, template: { spec: { provisionerClassName, source } } };
  const metadata = { name };
  const object = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata,
    spec,
  };
  await kubectl.must(['create', '-f', '-'], JSON.stringify(object));
}

async function apply({ engine }: Process, name: string, ...objects: readonly KubernetesObject[]) {
  const owner = (await kubectl.get('bundledeployment', name)) as BundleDeployment;
  return await engine.apply({ owner, objects, signal: AbortSignal.timeout(240_000) });
}

function configMap(name: string, data: object = {}): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

async function shared(): Promise<KubernetesObject> {
  return await kubectl.get('configmap', 'shared', namespace);
}

test('an object goes from a deployment of one process to one of another, and is never deleted', async () => {
  const [one, two] = [aProcess(), aProcess()];
  await create(giver);
  await create(taker);
  await apply(one, giver, configMap('shared', { of: 'giver' }), configMap('rest'));
  const { uid } = (await shared()).metadata;
  const refused = `belongs to BundleDeployment "${giver}"`;
  await expect(apply(two, taker, configMap('shared', { of: 'taker' }))).rejects.toThrow(refused);

  const annotation = `core.rukpak.io/hand-over=${taker}`;
  await kubectl.must(['annotate', 'bundledeployment', giver, annotation]);
  await apply(two, taker, configMap('shared', { of: 'taker' }));
  expect(await shared()).toMatchObject({ metadata: { uid }, data: { of: 'taker' } });
  await eventually(async () => expect(one.woken).toContain(giver));

  // The giver changes nothing, neither while it has the object in its bundle nor afterwards.
  one.client.taken();
  const kept = await apply(one, giver, configMap('shared', { of: 'giver' }), configMap('rest'));
  expect(kept.changes).toBe(0);
  expect(
    one.engine.health((await kubectl.get('bundledeployment', giver)) as BundleDeployment),
  ).toEqual([]);
  await apply(one, giver, configMap('rest'));
  expect(one.client.taken().filter((request) => request.includes('ConfigMap'))).toEqual([]);
  expect(await shared()).toMatchObject({ metadata: { uid }, data: { of: 'taker' } });

  // What the taker repairs the giver leaves alone, in new processes as well.
  const [three, four] = [aProcess(), aProcess()];
  await apply(three, giver, configMap('shared', { of: 'giver' }), configMap('rest'));
  const patch = ['--type=merge', '-p', '{"data":{"of":"nobody"}}'];
  await kubectl.must(['patch', 'configmap', 'shared', '--namespace', namespace, ...patch]);
  await apply(four, taker, configMap('shared', { of: 'taker' }));
  expect(await shared()).toMatchObject({ metadata: { uid }, data: { of: 'taker' } });
});
