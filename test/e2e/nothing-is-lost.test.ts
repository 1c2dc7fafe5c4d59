import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { type BundleDeploymentStatus, bundleResource } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aConfigMap, aCRD, aDeployment } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { rollOutPlain, type Wanted } from '../helpers/roll-out.ts';
import { System } from '../helpers/system.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const hold = 'e2e.example.com/hold';
const mark = 'core.rukpak.io/tracking-id';

let system: System;

beforeAll(async () => {
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  // An orphaned one stays.
  await kubectl.deleteAll('bundles');
  await kubectl.deleteAll('configmaps,deployments', { namespace: 'default' });
  const leftovers = ['crd/losts.e2e.example.com', 'namespace/lost-ns'];
  await kubectl.must(['delete', '--ignore-not-found', '--timeout=300s', ...leftovers]);
});

afterAll(async () => await system.stop());

async function rollOut(wanted: Wanted): Promise<void> {
  await rollOutPlain({ kubectl, registry, prefix: 'lost' }, wanted);
}

/** Waits until that version's Bundle is the active one, and nothing is under way. */
async function isInstalled(name: string, version = 1): Promise<KubernetesObject> {
  return await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    const status = deployment['status'] as BundleDeploymentStatus | undefined;
    expect(conditionOf(deployment, 'Installed')?.status).toBe('True');
    expect(status?.observedGeneration).toBe(deployment.metadata.generation);
    const bundle = await kubectl.get(bundleResource.plural, status?.activeBundle ?? 'none');
    expect(JSON.stringify(bundle['spec'])).toContain(`:v${version}"`);
    return deployment;
  });
}

async function isGone(kind: string, name: string): Promise<void> {
  await eventually(async () => expect(await kubectl.exists(kind, name)).toBe(false), patiently);
}

async function uidOf(kind: string, name: string, namespace?: string): Promise<string> {
  return (await kubectl.get(kind, name, namespace)).metadata.uid ?? '';
}

/** As `kubectl get -o yaml | sed | kubectl create` makes it, labels, annotations and all. */
async function copy(from: string, name: string, change: Record<string, string> = {}) {
  const { metadata, ...rest } = await kubectl.get('configmap', from);
  const { labels = {}, annotations = {} } = metadata;
  const marks = { ...annotations, ...change };
  const made = { name, namespace: 'default', labels, annotations: marks };
  await kubectl.must(['create', '-f', '-'], JSON.stringify({ ...rest, metadata: made }));
}

async function remove(name: string): Promise<void> {
  await kubectl.deleteNamed('bundledeployment', [name]);
}

function aResource(name: string, metadata: object = {}): object {
  return {
    apiVersion: 'e2e.example.com/v1',
    kind: 'Lost',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { size: 1 },
  };
}

async function told(reason: string, ...words: readonly string[]): Promise<void> {
  await eventually(async () => {
    const events = (await kubectl.list('events')).filter((event) => event['reason'] === reason);
    const text = events.map(({ message }) => String(message)).join('\n');
    for (const word of words) expect(text).toContain(word);
  });
}

describe('what core did not make for this very deployment', () => {
  test('stays when the deployment is upgraded and deleted: copies, and objects of another cluster', async () => {
    await rollOut({ name: 'copied', objects: [aConfigMap('l-a'), aConfigMap('l-b')] });
    await isInstalled('copied');
    await copy('l-b', 'l-copy');
    await copy('l-b', 'l-elsewhere', { [mark]: 'another-cluster:/ConfigMap:default/l-elsewhere' });
    await rollOut({ name: 'copied', version: 2, objects: [aConfigMap('l-a')] });
    await isInstalled('copied', 2);
    await isGone('configmap', 'l-b');
    await told('ObjectNotOwned', 'ConfigMap/default/l-copy', 'ConfigMap/default/l-elsewhere');
    await remove('copied');
    expect(await kubectl.exists('configmap', 'l-a')).toBe(false);
    expect(await kubectl.exists('configmap', 'l-copy')).toBe(true);
    expect(await kubectl.exists('configmap', 'l-elsewhere')).toBe(true);
  });

  test('stays when a namesake comes that does not want it; what that wants is taken over', async () => {
    await rollOut({ name: 'namesake', objects: [aConfigMap('l-a'), aConfigMap('l-b')] });
    await isInstalled('namesake');
    const [a, b] = [await uidOf('configmap', 'l-a'), await uidOf('configmap', 'l-b')];
    await system.stop();
    await kubectl.deleteNamed('bundledeployment', ['namesake'], { wait: false });
    const patch = '{"metadata":{"finalizers":null}}';
    await kubectl.must(['patch', 'bd', 'namesake', '--type=merge', '--patch', patch]);
    system = await System.start({ kubeconfig, registry });
    await rollOut({ name: 'namesake', version: 2, objects: [aConfigMap('l-a')] });
    await isInstalled('namesake', 2);
    await told('ObjectNotOwned', 'ConfigMap/default/l-b');
    expect(await uidOf('configmap', 'l-a')).toBe(a);
    await remove('namesake');
    expect(await kubectl.exists('configmap', 'l-a')).toBe(false);
    expect(await uidOf('configmap', 'l-b')).toBe(b);
  });

  test('is refused to a namesake with adoption Never after --cascade=orphan', async () => {
    await rollOut({ name: 'never', objects: [aConfigMap('l-a', { a: '1' })] });
    await isInstalled('never');
    await kubectl.must(['delete', 'bundledeployment', 'never', '--cascade=orphan']);
    await isGone('bundledeployment', 'never');
    const { metadata } = await kubectl.get('configmap', 'l-a');
    expect(Object.keys(metadata.labels ?? {}).join()).not.toMatch(/rukpak|applyset/);
    const spec = { adoption: 'Never' };
    await rollOut({ name: 'never', version: 2, objects: [aConfigMap('l-a', { a: '2' })], spec });
    await eventually(async () => {
      const condition = conditionOf(await kubectl.get('bundledeployment', 'never'), 'Installed');
      expect(condition).toMatchObject({ status: 'False', reason: 'InstallFailed' });
    });
    expect((await kubectl.get('configmap', 'l-a'))['data']).toEqual({ a: '1' });
  });
});

test('KeepCRDs holds for an upgrade, and for the way back', async () => {
  const spec = { deletionPolicy: 'KeepCRDs' };
  const objects = [aCRD('Lost'), aResource('ours'), aConfigMap('l-a')];
  await rollOut({ name: 'crds', objects, spec });
  await isInstalled('crds');
  await kubectl.apply(aResource('theirs'));
  const uid = await uidOf('crd', 'losts.e2e.example.com');
  await rollOut({ name: 'crds', version: 2, objects: [aConfigMap('l-b')], spec });
  await isInstalled('crds', 2);
  await isGone('configmap', 'l-a');
  await told('ObjectKept', 'CustomResourceDefinition/losts.e2e.example.com', 'KeepCRDs');
  await rollOut({ name: 'crds', objects, spec });
  await isInstalled('crds');
  expect(await uidOf('crd', 'losts.e2e.example.com')).toBe(uid);
  expect(await kubectl.exists('losts.e2e.example.com', 'theirs')).toBe(true);
  expect(await kubectl.exists('losts.e2e.example.com', 'ours')).toBe(true);
});

test('kubectl replace while core is down makes it forget no kind of an earlier version', async () => {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount' };
  const dropped = { ...account, metadata: { name: 'l-sa', namespace: 'default' } };
  await rollOut({ name: 'replaced', objects: [aConfigMap('l-a'), dropped] });
  await isInstalled('replaced');
  await system.stop();
  await rollOut({ name: 'replaced', version: 2, objects: [aConfigMap('l-a')] });
  const { apiVersion, kind, spec } = await kubectl.get('bundledeployment', 'replaced');
  const manifest = { apiVersion, kind, metadata: { name: 'replaced' }, spec };
  await kubectl.must(['replace', '-f', '-'], JSON.stringify(manifest));
  const { metadata } = await kubectl.get('bundledeployment', 'replaced');
  expect(metadata.labels ?? {}).not.toHaveProperty('applyset.kubernetes.io/id');
  system = await System.start({ kubeconfig, registry });
  await isInstalled('replaced', 2);
  await isGone('serviceaccount', 'l-sa');
  await remove('replaced');
  expect(await kubectl.exists('configmap', 'l-a')).toBe(false);
});

describe('a custom resource that is annotated to be kept', () => {
  const keep = { annotations: { 'core.rukpak.io/keep': 'true' } };
  const crd = 'losts.e2e.example.com';

  test('outlives its deployment with its CRD', async () => {
    const objects = [aCRD('Lost'), aResource('ours'), aResource('goes'), aConfigMap('l-a')];
    await rollOut({ name: 'kept', objects });
    await isInstalled('kept');
    await kubectl.must(['annotate', 'lost', 'ours', 'core.rukpak.io/keep=true']);
    const uid = await uidOf(crd, 'ours', 'default');
    await remove('kept');
    expect(await uidOf(crd, 'ours', 'default')).toBe(uid);
    expect(await kubectl.exists(crd, 'goes', 'default')).toBe(false);
    expect(await kubectl.exists('configmap', 'l-a', 'default')).toBe(false);
    const because = 'Lost/default/ours is kept, and the API server would delete it with its CRD';
    await told('ObjectKept', `Core orphaned CustomResourceDefinition/${crd}: `, because);
  });

  test('outlives a prune of its CRD, whoever made it', async () => {
    await rollOut({ name: 'pruned', objects: [aCRD('Lost'), aConfigMap('l-a')] });
    await isInstalled('pruned');
    await eventually(async () => await kubectl.apply(aResource('theirs', keep)));
    const uid = await uidOf(crd, 'theirs', 'default');
    await rollOut({ name: 'pruned', version: 2, objects: [aConfigMap('l-b')] });
    await isInstalled('pruned', 2);
    await isGone('configmap', 'l-a');
    await told('ObjectKept', 'Lost/default/theirs is kept');
    await remove('pruned');
    expect(await uidOf(crd, 'theirs', 'default')).toBe(uid);
  });
});

test('a custom resource of another deployment outlives the deployment of its CRD, unless both are deleted', async () => {
  const crd = 'losts.e2e.example.com';
  const spec = { deletionPolicy: 'Delete' };
  const installBoth = async (): Promise<void> => {
    await rollOut({ name: 'operator', objects: [aCRD('Lost'), aConfigMap('l-a')], spec });
    await isInstalled('operator');
    await rollOut({ name: 'tenant', objects: [aResource('theirs')] });
    await isInstalled('tenant');
  };
  await installBoth();
  await kubectl.deleteNamed('bundledeployment', ['operator', 'tenant']);
  expect(await kubectl.exists('crd', crd)).toBe(false);
  await installBoth();
  const uid = await uidOf(crd, 'theirs', 'default');
  await remove('operator');
  expect(await kubectl.exists('configmap', 'l-a', 'default')).toBe(false);
  expect(await uidOf(crd, 'theirs', 'default')).toBe(uid);
  const because = 'Lost/default/theirs is of BundleDeployment "tenant", and the API server would';
  await told('ObjectKept', `Core orphaned CustomResourceDefinition/${crd}: `, because);
  await remove('tenant');
  expect(await kubectl.exists(crd, 'theirs', 'default')).toBe(false);
});

test('a version that is rolled back to is what it was: nothing of it was deleted before the new one is healthy', async () => {
  const spec = { rollback: { deadline: '3s' } };
  await rollOut({ name: 'back', objects: [aConfigMap('l-old')], spec });
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'back');
    expect(conditionOf(found, 'Healthy')?.status).toBe('True');
  });
  const uid = await uidOf('configmap', 'l-old');
  const waiting = aDeployment('l-waits') as KubernetesObject & {
    spec: { template: { spec: object } };
  };
  const pod = { ...waiting.spec.template.spec, nodeSelector: { 'example.com/none': 'none' } };
  const template = { ...waiting.spec.template, spec: pod };
  const sick = { ...waiting, spec: { ...waiting.spec, template } };
  await rollOut({ name: 'back', version: 2, objects: [sick], spec });
  await eventually(async () => {
    const found = await kubectl.get('bundledeployment', 'back');
    expect(conditionOf(found, 'Progressing')?.reason).toBe('RolledBack');
  }, patiently);
  await isGone('deployment', 'l-waits');
  expect(await uidOf('configmap', 'l-old')).toBe(uid);
});

test('an operator runs until its custom resources are gone', async () => {
  const objects = [aCRD('Lost'), aDeployment('l-operator')];
  await rollOut({ name: 'operator', objects, spec: { deletionPolicy: 'Delete' } });
  await isInstalled('operator');
  await eventually(async () => await kubectl.apply(aResource('theirs', { finalizers: [hold] })));
  await kubectl.deleteNamed('bundledeployment', ['operator'], { wait: false });
  await eventually(async () => {
    const condition = conditionOf(await kubectl.get('bundledeployment', 'operator'), 'Progressing');
    expect(condition?.message).toContain('CustomResourceDefinition/losts.e2e.example.com');
  });
  expect((await kubectl.get('deployment', 'l-operator')).metadata.deletionTimestamp).toBe(
    undefined,
  );
  const patch = ['--type=merge', '--patch', '{"metadata":{"finalizers":null}}'];
  await kubectl.must(['patch', 'losts.e2e.example.com', 'theirs', ...patch]);
  await isGone('bundledeployment', 'operator');
  expect(await kubectl.exists('deployment', 'l-operator')).toBe(false);
});

describe('a namespace of the bundle', () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lost-ns' } };
  const inside = (name: string, annotations: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'lost-ns', annotations },
  });

  test('goes with what is in it where that is all of the deployment', async () => {
    await rollOut({ name: 'spaces', objects: [namespace, inside('l-in')] });
    await isInstalled('spaces');
    await remove('spaces');
    await isGone('namespace', 'lost-ns');
  });

  test.each<[string, readonly object[], readonly object[]]>([
    ['somebody else put an object into it', [inside('l-in')], [inside('l-theirs')]],
    ['an object in it is kept', [inside('l-kept', { 'core.rukpak.io/keep': 'true' })], []],
  ])('stays where %s, in an upgrade and a deletion', async (_, own, foreign) => {
    await rollOut({ name: 'spaces', objects: [namespace, ...own] });
    await isInstalled('spaces');
    await kubectl.apply(...foreign);
    const staying = foreign.length > 0 ? 'l-theirs' : 'l-kept';
    const uid = await uidOf('configmap', staying, 'lost-ns');
    await rollOut({ name: 'spaces', version: 2, objects: [aConfigMap('l-a')] });
    await isInstalled('spaces', 2);
    await told('ObjectKept', 'Namespace/lost-ns', `ConfigMap/lost-ns/${staying}`);
    await rollOut({ name: 'spaces', objects: [namespace, ...own] });
    await isInstalled('spaces');
    await remove('spaces');
    const { metadata, status } = await kubectl.get('namespace', 'lost-ns');
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect(status).toMatchObject({ phase: 'Active' });
    expect(await uidOf('configmap', staying, 'lost-ns')).toBe(uid);
  });

  test('stays with what others put into it where a hook made it', async () => {
    const annotations = { 'core.rukpak.io/hook': 'pre-install,pre-upgrade' };
    const made = { ...namespace, metadata: { name: 'lost-ns', annotations } };
    await rollOut({ name: 'spaces', objects: [made, aConfigMap('l-a')] });
    await isInstalled('spaces');
    await kubectl.apply(inside('l-theirs'));
    const uid = await uidOf('configmap', 'l-theirs', 'lost-ns');
    await rollOut({ name: 'spaces', version: 2, objects: [made, aConfigMap('l-b')] });
    await isInstalled('spaces', 2);
    expect(await uidOf('configmap', 'l-theirs', 'lost-ns')).toBe(uid);
    await remove('spaces');
    await told('ObjectKept', 'Namespace/lost-ns', 'ConfigMap/lost-ns/l-theirs');
    const { metadata } = await kubectl.get('namespace', 'lost-ns');
    // Nothing is left to the garbage collector.
    expect(metadata).not.toHaveProperty('deletionTimestamp');
    expect(metadata).not.toHaveProperty('ownerReferences');
    expect(await uidOf('configmap', 'l-theirs', 'lost-ns')).toBe(uid);
  });

  test('goes with its deployment where a hook made it and nothing is in it', async () => {
    const annotations = { 'core.rukpak.io/hook': 'pre-install' };
    const made = { ...namespace, metadata: { name: 'lost-ns', annotations } };
    await rollOut({ name: 'spaces', objects: [made, inside('l-in')] });
    await isInstalled('spaces');
    await remove('spaces');
    await isGone('namespace', 'lost-ns');
  });

  test.each(['Never', 'Unowned', 'Always'])(
    'is used and stays as it is where it was there before, with adoption %s',
    async (adoption) => {
      await kubectl.must(['create', 'namespace', 'lost-ns']);
      const { metadata } = await kubectl.get('namespace', 'lost-ns');
      const labelled = { ...namespace, metadata: { name: 'lost-ns', labels: { tier: 'gold' } } };
      const spec = { adoption };
      await rollOut({ name: 'spaces', objects: [labelled, inside('l-in')], spec });
      await isInstalled('spaces');
      await told('NamespaceUsed', 'Namespace "lost-ns" exists and does not belong', 'tier=gold');
      await remove('spaces');
      expect(await kubectl.exists('configmap', 'l-in', 'lost-ns')).toBe(false);
      expect((await kubectl.get('namespace', 'lost-ns')).metadata).toEqual(metadata);
    },
  );

  test('is shared by the deployments that want it, and goes with the last one', async () => {
    await rollOut({ name: 'first', objects: [namespace, inside('l-first')] });
    await isInstalled('first');
    await rollOut({ name: 'second', objects: [namespace, inside('l-second')] });
    await isInstalled('second');
    await remove('first');
    expect(await kubectl.exists('configmap', 'l-first', 'lost-ns')).toBe(false);
    expect(await kubectl.exists('configmap', 'l-second', 'lost-ns')).toBe(true);
    await rollOut({ name: 'third', objects: [namespace, inside('l-third')] });
    await isInstalled('third');
    await kubectl.deleteNamed('bd', ['second', 'third']);
    await isGone('namespace', 'lost-ns');
  });
});
