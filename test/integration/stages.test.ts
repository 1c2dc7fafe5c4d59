import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
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
import { aBundleDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const namespace = `stages-${randomBytes(3).toString('hex')}`;
const connection = connect({ userAgent: 'rukpak-core/test', kubeconfig: plane.kubeconfig });
const stop = new AbortController();

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  await kubectl.must(['create', 'namespace', namespace]);
});

afterAll(async () => {
  stop.abort();
  await kubectl.deleteNamed('namespace', [namespace], { wait: false, ignoreNotFound: true });
  await kubectl.labelNodes({ [namespace]: null });
  await connection.close();
});

interface Process {
  readonly engine: ApplyEngine;
  readonly client: CountingClient;
  /** Owners whose objects changed. */
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

async function anOwner(name: string): Promise<BundleDeployment> {
  const full = `${namespace}-${name}`;
  onTestFinished(async () => await kubectl.remove('bd', full));
  await kubectl.apply(aBundleDeployment({ name: full, source: anImage('x') }));
  return await reload(full);
}

async function reload(name: string): Promise<BundleDeployment> {
  return (await kubectl.get('bundledeployment', name)) as BundleDeployment;
}

function configMap(name: string, stage: number): KubernetesObject {
  const annotations = { 'core.rukpak.io/stage': String(stage) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations }, data: {} };
}

/** In stage 0, and ready once a node has the label. */
function workload(name: string, label: string): KubernetesObject {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'example.invalid/none:1' }];
  const nodeSelector = { [namespace]: label };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, nodeSelector } },
    },
  };
}

async function makeReady(label: string, name: string): Promise<void> {
  await kubectl.labelNodes({ [namespace]: label });
  const ready = ['--for=condition=Available', '--timeout=240s', `--namespace=${namespace}`];
  await kubectl.must(['wait', `deployment/${name}`, ...ready]);
}

test('what waits costs no request until its stage begins, in this process and the next', async () => {
  const owner = await anOwner('cheap');
  const name = owner.metadata.name ?? '';
  const objects = [configMap('early', -1), workload('cheap', 'a'), configMap('late', 1)];
  const request = { objects, waitForReady: true, signal: stop.signal };
  const first = aProcess();
  const blocked = {
    reason: 'WaitingForStage',
    message: expect.stringContaining(
      `stage 1 waits for stage 0: (apps/v1, Kind=Deployment)(${namespace}/cheap): object InProgress: `,
    ),
  };
  const begun = await first.engine.apply({ ...request, owner });
  expect(begun).toMatchObject({ changes: 2, complete: false, blocked });
  first.client.taken();
  for (const process of [first, aProcess()]) {
    const waiting = await process.engine.apply({ ...request, owner: await reload(name) });
    expect(waiting).toMatchObject({ changes: 0, complete: false, blocked });
    expect(process.client.taken()).toEqual([]);
  }
  first.woken.length = 0;
  await makeReady('a', 'cheap');
  await eventually(() => expect(first.woken).toContain(name));
  await eventually(async () => {
    const done = await first.engine.apply({ ...request, owner: await reload(name) });
    expect(done).toMatchObject({ complete: true });
  });
  const sent = first.client.taken().filter((line) => !line.startsWith('get '));
  expect(sent.filter((line) => !line.includes('BundleDeployment'))).toEqual([
    expect.stringMatching(/ ConfigMap\/late$/),
  ]);
});

test('an owner that is gone while it waits is forgotten with what was found of it', async () => {
  const owner = await anOwner('gone');
  const name = owner.metadata.name ?? '';
  const objects = [workload('gone', 'b'), configMap('gone-late', 1)];
  const request = { objects, waitForReady: true, signal: stop.signal };
  await aProcess().engine.apply({ ...request, owner });
  const next = aProcess();
  await expect(next.engine.apply({ ...request, owner: await reload(name) })).resolves.toMatchObject(
    { complete: false },
  );
  next.engine.forget(name);
  next.woken.length = 0;
  await makeReady('b', 'gone');
  const another = await anOwner('other');
  await next.engine.apply({
    owner: another,
    objects: [configMap('other', 0)],
    signal: stop.signal,
  });
  await next.engine.apply({
    owner: another,
    objects: [workload('later', 'b')],
    signal: stop.signal,
  });
  // Its deletion comes by the watch of Deployments after all that happened to the first one.
  await kubectl.deleteNamed('deployment', ['later'], { namespace });
  await eventually(() => expect(next.woken).toContain(another.metadata.name));
  expect(next.woken).not.toContain(name);
});
