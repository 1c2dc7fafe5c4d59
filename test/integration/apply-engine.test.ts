import { randomBytes } from 'node:crypto';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { ApplyEngine } from '../../core/apply/index.ts';
import type { ObjectEvent } from '../../core/contracts/event-sink.ts';
import { TerminalError } from '../../core/errors.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { DiscoveryClient } from '../../core/platform/kube/discovery/discovery.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { CountingClient } from '../helpers/counting-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { inProcessJudge } from '../helpers/in-process-judge.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { customResourcesAreServed } from '../helpers/served-kinds.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
const run = randomBytes(3).toString('hex');
const namespace = `apply-engine-${run}`;

const connection = connect({ userAgent: 'rukpak-core/test', kubeconfig: plane.kubeconfig });

let serial = 0;
let stop = new AbortController();
let client = new CountingClient(connection.client);
let engine: ApplyEngine;
let events: ObjectEvent[] = [];
let changes: string[] = [];

function anEngine(): ApplyEngine {
  client = new CountingClient(connection.client);
  const made = new ApplyEngine({
    client,
    discovery: new DiscoveryClient(connection.client),
    clock: systemClock,
    logger: silentLogger,
    judge: inProcessJudge,
    events: { event: (_regarding, event) => void events.push(event) },
    systemNamespace: namespace,
    signal: stop.signal,
  });
  made.onChange((owner) => {
    // Other files leave objects of deployments of theirs.
    if (owner.startsWith(`ae-${run}-`)) changes.push(owner);
  });
  return made;
}

/** What a new process would start with. */
function restart(): void {
  stop.abort();
  stop = new AbortController();
  engine = anEngine();
}

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  await kubectl.must(['create', 'namespace', namespace]);
});

beforeEach(() => {
  stop = new AbortController();
  events = [];
  engine = anEngine();
  changes = [];
});

afterEach(() => stop.abort());

afterAll(async () => {
  await kubectl.deleteNamed('namespace', [namespace], { wait: false, ignoreNotFound: true });
  await kubectl.labelNodes({ [namespace]: null });
  // Core of a later file would wait for kinds with the marks of deployments that never existed.
  const selector = 'core.rukpak.io/owner-kind=BundleDeployment';
  await kubectl.deleteAll('crd', { selector, wait: false });
  await connection.close();
});

async function aDeployment(annotations: object = {}): Promise<BundleDeployment> {
  serial += 1;
  const name = `ae-${run}-${serial}`;
  onTestFinished(async () => await kubectl.remove('bd', name));
  const provisionerClassName = 'apply-engine-test';
  const template = {
    spec: { provisionerClassName, source: { type: 'image', image: { ref: 'x' } } },
  };
  const object = {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name, annotations },
    spec: { provisionerClassName, template },
  };
  await kubectl.must(['create', '-f', '-'], JSON.stringify(object));
  return await reload(name);
}

async function reload(name: string): Promise<BundleDeployment> {
  return (await kubectl.get('bundledeployment', name)) as BundleDeployment;
}

function installed(owner: BundleDeployment): BundleDeployment {
  return { ...owner, status: { activeBundle: 'b' } };
}

function unique(word: string): string {
  serial += 1;
  return `${word}-${run}-${serial}`;
}

function configMap(
  name: string,
  data: object = { a: '1' },
  metadata: object = {},
): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

function workload(name: string, container: object = {}, pods: object = {}): KubernetesObject {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'example.invalid/none:1', ...container }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, ...pods } },
    },
  };
}

function aCRD(kind: string): KubernetesObject {
  const plural = `${kind.toLowerCase()}s`;
  const properties = { size: { type: 'integer' } };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.apply.example.com` },
    spec: {
      group: 'apply.example.com',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

function apply(owner: BundleDeployment, ...objects: KubernetesObject[]) {
  return engine.apply({ owner, objects, signal: AbortSignal.timeout(240_000) });
}

async function failure(attempt: Promise<unknown>): Promise<TerminalError> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TerminalError);
  return error as TerminalError;
}

async function patch(kind: string, name: string, change: object): Promise<void> {
  const text = JSON.stringify(change);
  await kubectl.must(['patch', kind, name, '-n', namespace, '--type=merge', '-p', text]);
}

/** Waits until no event of what was done so far is outstanding. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 400));
}

test('a deployment is guarded before its first object, or hook, is', async () => {
  const owner = await aDeployment();
  await engine.apply({ owner, objects: [], hooks: [], foundationOnly: true, signal: stop.signal });
  const { finalizers } = (await reload(owner.metadata.name ?? '')).metadata;
  expect(finalizers).toEqual(['core.rukpak.io/delete-objects']);
});

test('installs with marks, and an unchanged resync sends nothing', async () => {
  const owner = await aDeployment();
  const name = owner.metadata.name ?? '';
  const objects = [
    configMap(unique('cm')),
    workload(unique('web')),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: unique('sa') } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: unique('s') }, stringData: { k: 'v' } },
  ];
  expect(await apply(owner, ...objects)).toMatchObject({ changes: 4 });
  const live = await kubectl.get('configmap', objects[0]?.metadata.name ?? '', namespace);
  expect(live.metadata.labels).toEqual({
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': name,
    'applyset.kubernetes.io/part-of': expect.stringMatching(/^applyset-[\w-]{43}-v1$/),
  });
  expect(live.metadata.annotations).toEqual({
    'core.rukpak.io/tracking-id': `${owner.metadata.uid}:/ConfigMap:${namespace}/${live.metadata.name}`,
  });
  expect(live.metadata.ownerReferences).toBeUndefined();
  const parent = await reload(name);
  expect(parent.metadata.labels).toEqual({
    'applyset.kubernetes.io/id': live.metadata.labels?.['applyset.kubernetes.io/part-of'],
  });
  expect(parent.metadata.annotations).toEqual({
    'applyset.kubernetes.io/contains-group-kinds':
      'ConfigMap,Deployment.apps,Secret,ServiceAccount',
    'applyset.kubernetes.io/tooling': 'rukpak/v1alpha1',
    'core.rukpak.io/install-namespace': `${name}:${namespace}`,
  });
  await settle();
  client.taken();
  expect(await apply(owner, ...objects)).toMatchObject({ changes: 0 });
  expect(await apply(installed(parent), ...objects)).toMatchObject({ changes: 0 });
  expect(client.taken()).toEqual([]);
  restart();
  expect(await apply(installed(parent), ...objects)).toMatchObject({ changes: 0 });
  expect(client.taken()).toEqual([]);
});

test('own writes are silent, health changes are not', async () => {
  const owner = await aDeployment();
  const name = unique('cm');
  await apply(owner, configMap(name));
  await apply(owner, configMap(name, { a: '2' }));
  await apply(owner, configMap(name, { b: '2' }));
  await settle();
  expect(changes).toEqual([]);
  const web = unique('web');
  // Not ready before a node has the label: else it may be so before the answer to our write is here.
  const pods = { nodeSelector: { [namespace]: 'ready' } };
  await apply(owner, configMap(name, { b: '2' }), workload(web, {}, pods));
  const problem = `(apps/v1, Kind=Deployment)(${namespace}/${web}): object InProgress: `;
  expect(engine.health(owner)).toEqual([{ message: expect.stringContaining(problem) }]);
  await eventually(async () => {
    const pods = await kubectl.must([
      'get',
      'pods',
      '-n',
      namespace,
      '-l',
      `app=${web}`,
      '-o',
      'json',
    ]);
    expect(pods).toContain('"reason": "Unschedulable"');
  });
  const [explained] = await engine.explainedHealth(owner, AbortSignal.timeout(240_000));
  expect(explained?.message).toMatch(
    /: object .* \(Pod .*: Unschedulable: 0\/1 nodes are available/,
  );
  changes = [];
  await kubectl.labelNodes({ [namespace]: 'ready' });
  await eventually(() => {
    expect(engine.health(owner)).toEqual([]);
    expect(new Set(changes)).toEqual(new Set([owner.metadata.name]));
  });
});

test('a deleted and an edited object are repaired, and only these', async () => {
  const owner = installed(await aDeployment());
  const [one, two, three] = [unique('one'), unique('two'), unique('three')];
  const objects = [configMap(one), configMap(two), configMap(three, { a: '1', b: '2' })];
  await apply(owner, ...objects);
  client.taken();
  await kubectl.deleteNamed('configmap', [one], { namespace });
  await eventually(() => expect(changes).toEqual([owner.metadata.name]));
  expect(engine.health(owner)).toEqual([
    { message: `(/v1, Kind=ConfigMap)(${namespace}/${one}): configmaps "${one}" not found` },
  ]);
  await patch('configmap', three, { data: { a: 'edited', more: 'kept' } });
  await eventually(() => expect(changes).toHaveLength(2));
  expect(await apply(owner, ...objects)).toMatchObject({ changes: 2 });
  expect(client.taken().sort()).toEqual([`apply ConfigMap/${one}`, `apply ConfigMap/${three}`]);
  const live = await kubectl.get('configmap', three, namespace);
  expect(live['data']).toEqual({ a: '1', b: '2', more: 'kept' });
  await settle();
  expect(changes).toHaveLength(2);
  expect(engine.health(owner)).toEqual([]);
});

test('an object without its owner labels is taken back', async () => {
  const owner = installed(await aDeployment());
  const name = unique('cm');
  await apply(owner, configMap(name));
  await patch('configmap', name, { metadata: { labels: { 'core.rukpak.io/owner-kind': null } } });
  await eventually(() => expect(changes).toEqual([owner.metadata.name]));
  expect(await apply(owner, configMap(name))).toMatchObject({ changes: 1 });
  const live = await kubectl.get('configmap', name, namespace);
  expect(live.metadata.labels?.['core.rukpak.io/owner-kind']).toBe('BundleDeployment');
});

test('drift that happened while no process ran is repaired', async () => {
  const owner = installed(await aDeployment());
  const [one, two] = [unique('cm'), unique('cm')];
  await apply(owner, configMap(one), configMap(two));
  stop.abort();
  const parent = installed(await reload(owner.metadata.name ?? ''));
  await patch('configmap', one, { data: { a: 'edited' } });
  restart();
  expect(await apply(parent, configMap(one), configMap(two))).toMatchObject({ changes: 1 });
  expect(client.taken()).toEqual([`apply ConfigMap/${one}`]);
});

test('drift is let be by the next process, but pods are rolled that no other was left to roll', async () => {
  const owner = installed(await aDeployment());
  const spec = { ...owner.spec, drift: { mode: 'Warn' as const } };
  const warned = { ...owner, spec };
  const [rolled, scaled] = [unique('rolled'), unique('scaled')];
  const withHash = (name: string, hash: string): KubernetesObject => {
    const object = workload(name);
    const annotations = { 'core.rukpak.io/certificate-hash': hash };
    const template = { metadata: { labels: { app: name }, annotations } };
    const spec = object['spec'] as { template: object };
    return {
      ...object,
      spec: { ...spec, replicas: 0, template: { ...spec.template, ...template } },
    };
  };
  await apply(warned, withHash(rolled, 'old'), withHash(scaled, 'old'));
  stop.abort();
  await kubectl.must(['scale', 'deployment', scaled, '--replicas=1', `--namespace=${namespace}`]);
  restart();
  const objects = [withHash(rolled, 'new'), withHash(scaled, 'new')];
  const parent = { ...installed(await reload(owner.metadata.name ?? '')), spec };
  const request = { owner: parent, objects, unchanged: true, signal: stop.signal };
  const { changes: applied, drifted } = await engine.apply(request);
  expect(applied).toBe(1);
  expect(drifted).toEqual([
    {
      object: `Deployment/${namespace}/${scaled}`,
      missing: false,
      fields: expect.arrayContaining(['spec.replicas']),
    },
  ]);
  const sent = client.taken();
  expect(sent).toContain(`apply Deployment/${rolled}`);
  expect(sent).not.toContain(`apply Deployment/${scaled}`);
});

test('a key that left the set while no process ran leaves the object', async () => {
  const owner = installed(await aDeployment());
  const name = unique('cm');
  await apply(owner, configMap(name, { a: '1', b: '2' }));
  restart();
  const parent = await reload(owner.metadata.name ?? '');
  expect(await apply(parent, configMap(name, { a: '1' }))).toMatchObject({ changes: 1 });
  expect((await kubectl.get('configmap', name, namespace))['data']).toEqual({ a: '1' });
});

test('what a new set no longer has is pruned, but kept objects and other kinds of owners are not', async () => {
  const owner = await aDeployment();
  const [stays, goes, kept] = [unique('stays'), unique('goes'), unique('kept')];
  const keep = { annotations: { 'helm.sh/resource-policy': 'keep' } };
  const role: KubernetesObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: goes },
    rules: [],
  };
  await apply(owner, configMap(stays), configMap(goes), configMap(kept, {}, keep), role);
  const { labels, annotations } = (await kubectl.get('configmap', stays, namespace)).metadata;
  const copy = { labels: labels ?? {}, annotations: annotations ?? {} };
  const copied = unique('copied');
  await kubectl.apply(configMap(copied, {}, { ...copy, namespace }));
  // A process that dies between apply and prune leaves this to the next one.
  restart();
  expect(await apply(await reload(owner.metadata.name ?? ''), configMap(stays))).toMatchObject({
    changes: 3,
    complete: true,
  });
  expect(client.taken().sort()).toEqual([
    `delete ConfigMap/${goes}`,
    `delete Role/${goes}`,
    `get BundleDeployment/${owner.metadata.name}`,
    `patch BundleDeployment/${owner.metadata.name}`,
    `patch ConfigMap/${kept}`,
  ]);
  expect(await kubectl.exists('configmap', copied, namespace)).toBe(true);
  const live = await kubectl.get('configmap', kept, namespace);
  expect(live.metadata.ownerReferences).toBeUndefined();
  expect(live.metadata.annotations).toEqual({
    'helm.sh/resource-policy': 'keep',
    'core.rukpak.io/left-by': owner.metadata.name,
  });
  const parent = await reload(owner.metadata.name ?? '');
  expect(parent.metadata.annotations?.['applyset.kubernetes.io/contains-group-kinds']).toBe(
    'ConfigMap',
  );
  expect(await kubectl.exists('role', goes, namespace)).toBe(false);
});

test('an orphaned object of a hook is an ordinary one once it is applied as such', async () => {
  const owner = await aDeployment();
  const { name: ownerName = '' } = owner.metadata;
  const [stays, taken] = [unique('stays'), unique('taken')];
  const hook = configMap(taken, {}, { annotations: { 'core.rukpak.io/hook': 'pre-install' } });
  const { signal } = stop;
  await engine.apply({ owner, objects: [], hooks: [hook], foundationOnly: true, signal });
  await engine.runHook({ owner, hook, run: 'pre-install', signal });
  await engine.remove({ owner: await reload(ownerName), policy: 'Orphan', signal });
  const marks = async () => (await kubectl.get('configmap', taken, namespace)).metadata.annotations;
  expect(await marks()).toEqual({
    ...hook.metadata.annotations,
    'core.rukpak.io/hook-run': 'pre-install',
    'core.rukpak.io/left-by': ownerName,
  });
  await apply(await reload(ownerName), configMap(stays), configMap(taken));
  expect(await marks()).not.toHaveProperty(['core.rukpak.io/hook-run']);
  await apply(installed(await reload(ownerName)), configMap(stays));
  expect(await kubectl.exists('configmap', taken, namespace)).toBe(false);
});

test('a CRD and its custom resource install together, and again after the CRD was deleted', async () => {
  const owner = await aDeployment();
  const kind = `Widget${run}`;
  const name = unique('w');
  const widget = {
    apiVersion: 'apply.example.com/v1',
    kind,
    metadata: { name },
    spec: { size: 1 },
  };
  const objects = [widget, aCRD(kind), configMap(unique('cm'))];
  expect(await apply(owner, ...objects)).toMatchObject({ changes: 3 });
  await settle();
  changes = [];
  client.taken();
  expect(await apply(owner, ...objects)).toMatchObject({ changes: 0 });
  expect(client.taken()).toEqual([]);
  await customResourcesAreServed(kubectl, [aCRD(kind)]);
  await kubectl.deleteNamed('crd', [`${kind.toLowerCase()}s.apply.example.com`]);
  await eventually(async () => {
    await apply(installed(owner), ...objects);
    expect(await kubectl.exists(`${kind.toLowerCase()}s.apply.example.com`, name, namespace)).toBe(
      true,
    );
    expect(engine.health(owner)).toEqual([]);
  });
});

test('a CRD whose names are taken stops what comes after it', async () => {
  const owner = await aDeployment();
  const crd = aCRD(`Doohickey${run}`);
  const name = unique('cm');
  await apply(owner, crd);
  const other = await aDeployment();
  const names = { ...(crd['spec'] as { names: object }).names, plural: `others${run}` };
  const second = {
    ...crd,
    metadata: { name: `others${run}.apply.example.com` },
    spec: { ...(crd['spec'] as object), names },
  };
  const error = await failure(apply(other, second, configMap(name)));
  expect(error.reason).toBe('InstallFailed');
  expect(error.message).toContain(
    `CustomResourceDefinition "others${run}.apply.example.com" is not accepted: `,
  );
  expect(await kubectl.exists('configmap', name, namespace)).toBe(false);
});

test('unknown fields and duplicate list items are dropped with a Warning', async () => {
  const owner = await aDeployment();
  const web = unique('web');
  const env = [
    { name: 'A', value: '1' },
    { name: 'B', value: '1' },
    { name: 'A', value: '2' },
  ];
  await apply(owner, workload(web, { env, colour: 'red' }));
  const live = await kubectl.get('deployment', web, namespace);
  expect(JSON.stringify(live['spec'])).toContain(
    '"env":[{"name":"B","value":"1"},{"name":"A","value":"2"}]',
  );
  expect(events).toEqual([
    {
      type: 'Warning',
      reason: 'FieldsDropped',
      message:
        `Deployment "${web}" in namespace "${namespace}" was applied without unknown fields and ` +
        'repeated list items: spec.template.spec.containers[0].env[0], ' +
        'spec.template.spec.containers[0].colour',
    },
  ]);
  await settle();
  client.taken();
  expect(await apply(owner, workload(web, { env, colour: 'red' }))).toMatchObject({ changes: 0 });
  expect(client.taken()).toEqual([]);
});

test('unknown fields of custom resources and repeated ports are dropped', async () => {
  const owner = await aDeployment();
  const kind = `Gadget${run}`;
  const name = unique('g');
  const gadget = {
    apiVersion: 'apply.example.com/v1',
    kind,
    metadata: { name },
    spec: { size: 2, colour: 'red' },
  };
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 80, protocol: 'TCP' },
  ];
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports } };
  await apply(owner, aCRD(kind), gadget, service);
  const live = await kubectl.get(`${kind.toLowerCase()}s.apply.example.com`, name, namespace);
  expect(live['spec']).toEqual({ size: 2 });
  expect(new Set(events.map(({ message }) => message.split(': ')[1]))).toEqual(
    new Set(['spec.colour', 'spec.ports[0]']),
  );
});

test('a field is applied whose CRD declares it in the same upgrade, and one that it lacks is dropped', async () => {
  const owner = await aDeployment();
  const kind = `Gauge${run}`;
  const name = unique('g');
  const gauge = (spec: object) => ({
    apiVersion: 'apply.example.com/v1',
    kind,
    metadata: { name },
    spec: { size: 2, ...spec },
  });
  await apply(owner, aCRD(kind), gauge({ shape: 'round' }));
  const text = JSON.stringify(aCRD(kind));
  const size = '"size":{"type":"integer"}';
  expect(text).toContain(size);
  const crd = JSON.parse(text.replace(size, `${size},"colour":{"type":"string"}`));
  events = [];
  await apply(
    await reload(owner.metadata.name ?? ''),
    crd,
    gauge({ shape: 'round', colour: 'red' }),
  );
  const live = await kubectl.get(`${kind.toLowerCase()}s.apply.example.com`, name, namespace);
  expect(live['spec']).toEqual({ size: 2, colour: 'red' });
  expect(events.map(({ message }) => message.split(': ')[1])).toEqual(['spec.shape']);
});

test('a new process applies empty values that a version adds, and once only', async () => {
  const owner = await aDeployment();
  const { name: ownerName = '' } = owner.metadata;
  const [account, web] = [unique('account'), unique('web')];
  const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account } };
  await apply(owner, object, workload(web, {}));
  restart();
  const next = [
    { ...object, automountServiceAccountToken: false },
    // The API server omits these.
    workload(web, { args: [], tty: false, workingDir: '' }),
  ];
  await apply(await reload(ownerName), ...next);
  expect(await kubectl.get('serviceaccount', account, namespace)).toMatchObject({
    automountServiceAccountToken: false,
  });
  restart();
  await apply(await reload(ownerName), ...next);
  expect(client.taken()).toEqual([]);
});

test('a foreign object is refused before anything changes, and adopted on demand', async () => {
  const owner = await aDeployment();
  const [mine, foreign] = [unique('mine'), unique('foreign')];
  await kubectl.apply(configMap(foreign, { a: 'theirs' }, { namespace }));
  const error = await failure(apply(owner, configMap(mine), configMap(foreign)));
  expect(error.reason).toBe('InstallFailed');
  expect(error.message).toBe(
    'rendered manifests contain a resource that already exists. Unable to continue with install: ' +
      `ConfigMap "${foreign}" in namespace "${namespace}" exists and cannot be imported into the ` +
      'current release: it has no owner. Delete or rename it, or let this ' +
      'BundleDeployment adopt it: set spec.adoption to Unowned or Always, or ' +
      `kubectl annotate --overwrite bundledeployment ${owner.metadata.name} ` +
      `core.rukpak.io/adopt=ConfigMap/${namespace}/${foreign}`,
  );
  expect(await kubectl.exists('configmap', mine, namespace)).toBe(false);
  const adopt = { 'core.rukpak.io/adopt': `ConfigMap/${namespace}/${foreign}` };
  const metadata = { ...owner.metadata, annotations: adopt };
  await apply({ ...owner, metadata }, configMap(mine), configMap(foreign));
  expect((await kubectl.get('configmap', foreign, namespace))['data']).toEqual({ a: '1' });
});

test('a refused install leaves nothing behind, names all that is in its way, and looks first next time', async () => {
  const owner = await aDeployment();
  const [mine, first, second] = [unique('mine'), unique('a'), unique('b')];
  await kubectl.apply(
    configMap(first, { a: 'theirs' }, { namespace }),
    configMap(second, { a: 'theirs' }, { namespace }),
  );
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: mine } };
  const set = [account, configMap(mine), configMap(first), configMap(second)];
  const error = await failure(apply(owner, ...set));
  expect(error.message).toContain(`ConfigMap "${first}"`);
  expect(error.message).toContain(`ConfigMap "${second}"`);
  const created = `apply ServiceAccount/${mine}`;
  expect(client.taken()).toEqual(
    expect.arrayContaining([created, `delete ServiceAccount/${mine}`]),
  );
  await settle();
  expect(await kubectl.exists('serviceaccount', mine, namespace)).toBe(false);
  expect(await kubectl.exists('configmap', mine, namespace)).toBe(false);
  expect((await kubectl.get('configmap', first, namespace))['data']).toEqual({ a: 'theirs' });
  expect(changes).toEqual([]);
  await failure(apply(owner, ...set));
  expect(client.taken()).not.toContain(created);
  await kubectl.deleteNamed('configmap', [first, second], { namespace });
  expect(await apply(owner, ...set)).toMatchObject({ changes: 4 });
});

test('a refused install does not delete the namespace that it has made: others may have put something in', async () => {
  const owner = await aDeployment();
  const [own, foreign] = [unique('own'), unique('foreign')];
  await kubectl.apply(configMap(foreign, { a: 'theirs' }, { namespace }));
  const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: own } };
  const error = await failure(apply(owner, made, configMap(foreign)));
  expect(error.message).toContain(`ConfigMap "${foreign}"`);
  expect(client.taken()).not.toContain(`delete Namespace/${own}`);
  const { metadata } = await kubectl.get('namespace', own);
  expect(metadata.deletionTimestamp).toBeUndefined();
  await kubectl.deleteNamed('configmap', [foreign], { namespace });
  await apply(owner, made, configMap(foreign));
  expect((await kubectl.get('namespace', own)).metadata.uid).toBe(metadata.uid);
  await kubectl.deleteNamed('namespace', [own], { wait: false });
});

test('an install reads nothing, and never takes over what was created meanwhile', async () => {
  const owner = await aDeployment();
  const [one, two] = [unique('one'), unique('two')];
  await apply(owner, configMap(one), configMap(two));
  expect(client.taken().filter((request) => !request.includes('BundleDeployment/'))).toEqual([
    expect.stringContaining('GET /api/v1/namespaces/'),
    `apply ConfigMap/${one}`,
    `apply ConfigMap/${two}`,
  ]);
  await kubectl.deleteNamed('configmap', [one], { namespace });
  await eventually(() => expect(changes).toEqual([owner.metadata.name]));
  await kubectl.apply(configMap(one, { a: 'theirs' }, { namespace }));
  const error = await failure(apply(installed(owner), configMap(one), configMap(two)));
  expect(error.message).toContain(`ConfigMap "${one}"`);
  expect((await kubectl.get('configmap', one, namespace))['data']).toEqual({ a: 'theirs' });
});

test('an object that somebody recreates right before its update is theirs', async () => {
  const owner = await aDeployment();
  const [name, gone] = [unique('anew'), unique('gone')];
  await apply(owner, configMap(name), configMap(gone));
  const send = client.apply.bind(client);
  const before = new Map([
    [
      name,
      [
        ['delete', 'configmap', name],
        ['create', 'configmap', name, '--from-literal=b=theirs'],
      ],
    ],
    [gone, [['delete', 'configmap', gone]]],
  ]);
  using _same = vi.spyOn(client, 'ofCreator').mockReturnValue(client);
  using _slow = vi.spyOn(client, 'apply').mockImplementation(async (...request) => {
    const [, { metadata }] = request;
    const commands = before.get(metadata.name ?? '') ?? [];
    before.delete(metadata.name ?? '');
    for (const command of commands) await kubectl.must([...command, '-n', namespace]);
    return await send(...request);
  });
  const update = apply(installed(owner), configMap(name, { a: '2' }), configMap(gone, { a: '2' }));
  expect((await failure(update)).message).toContain(`ConfigMap "${name}" in namespace`);
  expect(before.size).toBe(0);
  expect(await kubectl.get('configmap', name, namespace)).toMatchObject({ data: { b: 'theirs' } });
  await eventually(async () => {
    const stored = await kubectl.get('configmap', gone, namespace);
    expect(stored['data']).toEqual({ a: '2' });
  });
});

test("another deployment's object is refused, also when both start at once", async () => {
  const owners = [await aDeployment(), await aDeployment()] as const;
  const name = unique('shared');
  const results = await Promise.allSettled(owners.map((owner) => apply(owner, configMap(name))));
  const succeeded = results.map(({ status }) => status === 'fulfilled');
  expect(succeeded[0]).not.toBe(succeeded[1]);
  const [first, second] = succeeded[0] ? owners : [owners[1], owners[0]];
  const error = await failure(apply(installed(second), configMap(name)));
  expect(error.reason).toBe('ErrorGettingReleaseState');
  expect(error.message).toContain(
    `Unable to continue with update: ConfigMap "${name}" in namespace "${namespace}" exists and ` +
      'cannot be imported into the current release: it ',
  );
  expect(error.message).toContain(`BundleDeployment "${first.metadata.name}"`);
  restart();
  await failure(apply(second, configMap(name)));
  const parent = await reload(first.metadata.name ?? '');
  expect(await apply(parent, configMap(name))).toMatchObject({ changes: 0 });
});

test('objects of another controller are adopted without it', async () => {
  const other = await aDeployment();
  const owner = await aDeployment({ 'core.rukpak.io/adopt': '*' });
  const name = unique('cm');
  const { uid, name: otherName } = other.metadata;
  const reference = {
    apiVersion: 'example.com/v1',
    kind: 'Other',
    name: otherName,
    uid,
    controller: true,
  };
  await kubectl.apply(configMap(name, { a: '0' }, { namespace, ownerReferences: [reference] }));
  await apply(owner, configMap(name));
  const live = await kubectl.get('configmap', name, namespace);
  expect(live.metadata.ownerReferences ?? []).toEqual([]);
});

test('objects of the Helm release of the same name are taken over silently', async () => {
  const owner = await aDeployment();
  const name = unique('cm');
  const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
  const annotations = {
    'meta.helm.sh/release-name': owner.metadata.name,
    'meta.helm.sh/release-namespace': namespace,
  };
  await kubectl.apply(configMap(name, {}, { namespace, labels, annotations }));
  expect(await apply(owner, configMap(name))).toMatchObject({ changes: 1 });
});

test('an unknown kind creates nothing', async () => {
  const owner = await aDeployment();
  const name = unique('cm');
  const unknown = { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing', metadata: { name } };
  const text =
    'error while running post render on files: resource mapping not found for name: ' +
    `"${name}" namespace: "" from "": no matches for kind "Nothing" in version ` +
    '"nowhere.example.com/v1"\nensure CRDs are installed first';
  const install = await failure(apply(owner, configMap(name), unknown));
  expect(install.reason).toBe('InstallFailed');
  expect(install.message).toBe(`required resource not found: ${text}`);
  const upgrade = await failure(apply(installed(owner), configMap(name), unknown));
  expect(upgrade.reason).toBe('ErrorGettingReleaseState');
  expect(upgrade.message).toBe(text);
  expect(await kubectl.exists('configmap', name, namespace)).toBe(false);
});

test('a missing namespace and an invalid object are named, the others are applied', async () => {
  const owner = await aDeployment();
  const [good, bad] = [unique('good'), unique('bad')];
  const missing = unique('missing');
  const error = await failure(
    apply(owner, configMap(good), configMap(bad, { a: '1' }, { namespace: missing })),
  );
  expect(error.reason).toBe('InstallFailed');
  expect(error.message).toBe(`required resource not found: namespaces "${missing}" not found`);
  expect(await kubectl.exists('configmap', good, namespace)).toBe(true);
  const invalid = configMap(bad, { 'not a key!': '1' });
  const refused = await failure(apply(installed(owner), configMap(good), invalid));
  expect(refused.reason).toBe('UpgradeFailed');
  expect(refused.message).toMatch(new RegExp(`^ConfigMap "${bad}" is invalid: `));
  const mistyped = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: bad }, data: 'text' };
  const untyped = await failure(apply(owner, configMap(good), mistyped));
  expect(untyped.message).toContain(bad);
});

test('a failed upgrade prunes nothing and says what could not be patched', async () => {
  const owner = await aDeployment();
  const [job, old] = [unique('job'), unique('old')];
  const template = (image: string): object => ({
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] },
  });
  const aJob = (image: string): KubernetesObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: job },
    spec: { template: template(image) },
  });
  await apply(owner, aJob('example.invalid/a:1'), configMap(old));
  const error = await failure(apply(installed(owner), aJob('example.invalid/a:2')));
  expect(error.reason).toBe('UpgradeFailed');
  expect(error.message).toMatch(
    new RegExp(`^cannot patch "${job}" with kind Job: Job.batch "${job}" is invalid: `),
  );
  expect(await kubectl.exists('configmap', old, namespace)).toBe(true);
});

test('names that are no path segments never reach the server', async () => {
  const owner = await aDeployment();
  for (const name of ['..', 'a/b', '%2e', '']) {
    const error = await failure(apply(owner, configMap(name)));
    expect(error.message).toContain(`ConfigMap "${name}": metadata.name `);
  }
  expect(client.taken()).toEqual([]);
});

test('a deployment that is gone leaves nothing claimed', async () => {
  const [first, second] = [await aDeployment(), await aDeployment()];
  const name = unique('cm');
  await apply(first, configMap(name));
  await eventually(async () => {
    const request = { owner: first, policy: 'Delete', signal: stop.signal } as const;
    expect((await engine.remove(request)).waitsFor).toBeUndefined();
  });
  engine.forget(first.metadata.name ?? '');
  await apply(second, configMap(name));
  expect(engine.health(first)).toEqual([]);
});
