import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import type { BundleDeploymentStatus, BundleSource } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { aBundleDeployment, aConfigMap, aCRD, aDeployment, anImage } from '../helpers/objects.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';
import { System } from '../helpers/system.ts';

let system: System;
let kubectl: Kubectl;
let registry: string;

beforeAll(async () => {
  registry = plane.registry;
  kubectl = new Kubectl({ path: plane.kubectl, kubeconfig: plane.kubeconfig });
  system = await System.start({ kubeconfig: plane.kubeconfig, registry });
});

afterAll(async () => {
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await eventually(async () => expect(await kubectl.list('bundles')).toEqual([]), patiently);
  await system.stop();
});

async function push(repository: string, ...objects: readonly object[]): Promise<BundleSource> {
  const files = { 'manifests/all.yaml': objects.map((o) => stringifyJson(o)).join('\n---\n') };
  await pushImage({ registry, repository: `e2e/${repository}`, tag: 'v1', layers: [{ files }] });
  return anImage(`${registry}/e2e/${repository}:v1`);
}

async function install(name: string, ...objects: readonly object[]): Promise<void> {
  await kubectl.apply(aBundleDeployment({ name, source: await push(name, ...objects) }));
}

/** Text that does not compress to nothing, as a bomb would. */
function randomText(length: number): string {
  return randomBytes(length).toString('base64').slice(0, length);
}

function statusOf(deployment: KubernetesObject): BundleDeploymentStatus {
  return (deployment['status'] as BundleDeploymentStatus | undefined) ?? {};
}

async function condition(
  name: string,
  type: string,
  expected: Partial<Condition>,
): Promise<KubernetesObject> {
  return eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, type)).toMatchObject(expected);
    return deployment;
  });
}

const installed = { status: 'True', reason: 'InstallationSucceeded' } as const;

test('a deployment becomes installed and healthy, and says so', async () => {
  await install('demo', aConfigMap('demo-cm'), aDeployment('demo-app'));
  const deployment = await condition('demo', 'Healthy', {
    status: 'True',
    reason: 'Healthy',
    message: 'BundleDeployment is healthy',
  });
  const { activeBundle, conditions } = statusOf(deployment);
  // Where unpacking takes a moment, Ready is there before Installed.
  const types = ['HasValidBundle', 'Healthy', 'Installed', 'Ready'];
  expect(conditions?.map(({ type }) => type).toSorted()).toEqual(types);
  expect(conditionOf(deployment, 'Ready')).toMatchObject({
    status: 'True',
    reason: 'Healthy',
    message: `Bundle ${activeBundle} is installed and healthy`,
    observedGeneration: 1,
  });
  expect(conditionOf(deployment, 'Installed')).toMatchObject({
    ...installed,
    message: `Instantiated bundle ${activeBundle} successfully`,
  });
  expect(conditionOf(deployment, 'HasValidBundle')).toMatchObject({
    status: 'True',
    reason: 'UnpackSuccessful',
    message: `Successfully unpacked the ${activeBundle} Bundle`,
  });
  const object = await kubectl.get('configmap', 'demo-cm', 'default');
  expect(object.metadata.labels).toMatchObject({
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'demo',
    'applyset.kubernetes.io/part-of': deployment.metadata.labels?.['applyset.kubernetes.io/id'],
  });
  expect(object.metadata.annotations).toMatchObject({
    'core.rukpak.io/tracking-id': `${deployment.metadata.uid}:/ConfigMap:default/demo-cm`,
  });
  // The garbage collector would delete it after a restore, whose deployments have other UIDs.
  expect(object.metadata.ownerReferences).toBeUndefined();
});

test('kubectl waits for it, also for a change that was made just now', async () => {
  await install('waited', aConfigMap('waited-cm', { a: '1' }));
  const wait = ['wait', '--for=condition=Ready', 'bundledeployment/waited', '--timeout=120s'];
  await kubectl.must(wait);
  const source = await push('waited-2', aConfigMap('waited-cm', { a: '2' }));
  await kubectl.apply(aBundleDeployment({ name: 'waited', source }));
  await kubectl.must(wait);
  expect(await kubectl.get('configmap', 'waited-cm', 'default')).toMatchObject({
    data: { a: '2' },
  });
});

test('transitions are Events', async () => {
  await eventually(async () => {
    const text = await kubectl.must(['describe', 'bundledeployment', 'demo']);
    expect(text).toContain('InstallationSucceeded');
    expect(text).toContain('Healthy');
  });
});

test('a deleted object is restored, an edited one repaired, an added label left alone', async () => {
  await kubectl.deleteNamed('configmap', ['demo-cm'], { namespace: 'default' });
  await eventually(() => kubectl.get('configmap', 'demo-cm', 'default'));
  await kubectl.must(['label', 'deployment', 'demo-app', '-n', 'default', 'mine=yes']);
  await kubectl.must(['scale', 'deployment', 'demo-app', '-n', 'default', '--replicas=3']);
  await eventually(async () => {
    const live = await kubectl.get('deployment', 'demo-app', 'default');
    expect(live['spec']).toMatchObject({ replicas: 1 });
    expect(live.metadata.labels).toMatchObject({ mine: 'yes' });
  });
});

test('a new template pivots, prunes what is gone and deletes the old Bundle', async () => {
  const before = statusOf(await kubectl.get('bundledeployment', 'demo')).activeBundle;
  const source = await push('demo-2', aConfigMap('demo-new'), aDeployment('demo-app'));
  await kubectl.apply(aBundleDeployment({ name: 'demo', source }));
  await eventually(async () => {
    const { activeBundle } = statusOf(await kubectl.get('bundledeployment', 'demo'));
    expect(activeBundle).not.toBe(before);
    expect(await kubectl.exists('configmap', 'demo-cm', 'default')).toBe(false);
    expect(await kubectl.exists('configmap', 'demo-new', 'default')).toBe(true);
    const bundles = await kubectl.list('bundles', 'core.rukpak.io/owner-name=demo');
    expect(bundles.map(({ metadata }) => metadata.name)).toEqual([activeBundle]);
  });
});

test('a template that cannot be unpacked leaves the installed version alone', async () => {
  const { activeBundle } = statusOf(await kubectl.get('bundledeployment', 'demo'));
  const source = await push('demo-broken', aConfigMap('x'));
  const bad = { type: 'image', image: { ref: source.image?.ref.replace(':v1', ':gone') ?? '' } };
  await kubectl.apply(aBundleDeployment({ name: 'demo', source: bad }));
  const deployment = await condition('demo', 'HasValidBundle', { reason: 'UnpackPending' });
  expect(statusOf(deployment).activeBundle).toBe(activeBundle);
  expect(conditionOf(deployment, 'Installed')).toMatchObject(installed);
  for (const version of [1, 2, 3, 4, 5, 6]) {
    const ref = `${bad.image.ref}${version}`;
    await kubectl.apply(aBundleDeployment({ name: 'demo', source: anImage(ref) }));
    await eventually(async () => {
      const bundles = await kubectl.list('bundles', 'core.rukpak.io/owner-name=demo');
      const refs = bundles.map((bundle) => (bundle['spec'] as { source: BundleSource }).source);
      expect(refs.some(({ image }) => image?.ref === ref)).toBe(true);
    });
  }
  const good = anImage(`${registry}/e2e/demo-2:v1`);
  await kubectl.apply(aBundleDeployment({ name: 'demo', source: good }));
  await eventually(async () => {
    expect(await kubectl.list('bundles', 'core.rukpak.io/owner-name=demo')).toHaveLength(1);
  });
});

test('a Bundle deleted by hand comes back under its name', async () => {
  const { activeBundle = '' } = statusOf(await kubectl.get('bundledeployment', 'demo'));
  const { uid } = (await kubectl.get('bundle', activeBundle)).metadata;
  await kubectl.deleteNamed('bundle', [activeBundle], { wait: false });
  await eventually(async () => {
    const bundle = await kubectl.get('bundle', activeBundle);
    expect(bundle.metadata.uid).not.toBe(uid);
    expect(bundle['status']).toMatchObject({ phase: 'Unpacked' });
  });
  await condition('demo', 'HasValidBundle', { reason: 'UnpackSuccessful' });
});

test('names are those of the documented template hash', async () => {
  const digest = 'sha256:e09d37bb1e754db42324fd18c1cb3e7ce77e7b7fcbf4932d0535391579938280';
  const ref = `registry.redhat.io/openshift-pipelines/pipelines-operator-bundle@${digest}`;
  const name = 'pipelines-operator';
  await kubectl.apply(
    aBundleDeployment({ name, className: 'core-rukpak-io-registry', source: anImage(ref) }),
  );
  await eventually(() => kubectl.get('bundle', `${name}-29x720cjzx8yiowf13a3j75fil2zs3mfw`));
  await kubectl.deleteNamed('bundledeployment', [name]);
});

test('a CRD and a custom resource of it install together', async () => {
  const resource = {
    apiVersion: 'e2e.example.com/v1',
    kind: 'Gadget',
    metadata: { name: 'g', namespace: 'default' },
    spec: { size: 3 },
  };
  await install('with-crd', resource, aCRD('Gadget'));
  await condition('with-crd', 'Healthy', { status: 'True' });
  expect((await kubectl.get('gadgets.e2e.example.com', 'g', 'default'))['spec']).toEqual({
    size: 3,
  });
});

test('a 5 MB bundle with a 1 MB CRD installs', async () => {
  const maps = Array.from({ length: 8 }, (_, index) =>
    aConfigMap(`big-${index}`, { data: randomText(500_000) }),
  );
  await install('big', aCRD('Whale', randomText(1_000_000)), ...maps);
  await condition('big', 'Healthy', { status: 'True' });
});

test('unknown fields and duplicate list keys install, with a Warning for each', async () => {
  const env = [
    { name: 'A', value: 'first' },
    { name: 'A', value: 'last' },
  ];
  await install('sloppy', aDeployment('sloppy', { env, notAField: true }));
  await condition('sloppy', 'Installed', installed);
  const live = (await kubectl.get('deployment', 'sloppy', 'default')) as unknown as {
    spec: { template: { spec: { containers: { env: object[] }[] } } };
  };
  expect(live.spec.template.spec.containers[0]?.env).toEqual([{ name: 'A', value: 'last' }]);
  await eventually(async () => {
    const text = await kubectl.must(['describe', 'bundledeployment', 'sloppy']);
    expect(text).toMatch(/Warning.*notAField/);
    expect(text).toMatch(/Warning.*env/);
  });
});

describe('refused', () => {
  const failed = { status: 'False', reason: 'InstallFailed' } as const;

  async function failure(name: string): Promise<string> {
    const deployment = await condition(name, 'Installed', failed);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({
      status: 'False',
      reason: 'InstallationStatusFalse',
      message: 'Installed condition is false',
    });
    return conditionOf(deployment, 'Installed')?.message ?? '';
  }

  test('an object of nobody', async () => {
    await kubectl.apply(aConfigMap('foreign', { mine: 'yes' }));
    await install('intruder', aConfigMap('foreign'), aConfigMap('beside-foreign'));
    const message = await failure('intruder');
    expect(message).toContain('ConfigMap "foreign" in namespace "default"');
    expect(message).toContain('core.rukpak.io/adopt');
    expect(await kubectl.exists('configmap', 'beside-foreign', 'default')).toBe(false);
    await kubectl.deleteNamed('bundledeployment', ['intruder']);
    expect((await kubectl.get('configmap', 'foreign', 'default'))['data']).toEqual({ mine: 'yes' });
    await kubectl.deleteNamed('configmap', ['foreign'], { namespace: 'default' });
  });

  test('an object of another deployment', async () => {
    await install('second-owner', aConfigMap('demo-new'));
    const message = await failure('second-owner');
    expect(message).toContain('ConfigMap "demo-new" in namespace "default"');
    expect(message).toContain('demo');
  });

  test('a kind that the cluster does not have, before anything is created', async () => {
    const unknown = { apiVersion: 'nope.example.com/v1', kind: 'Nope', metadata: { name: 'n' } };
    await install('unknown-kind', aConfigMap('beside-unknown'), unknown);
    expect(await failure('unknown-kind')).toBe(
      'required resource not found: error while running post render on files: resource mapping not found for name: "n" namespace: "" from "": no matches for kind "Nope" in version "nope.example.com/v1"\nensure CRDs are installed first',
    );
    expect(await kubectl.exists('configmap', 'beside-unknown', 'default')).toBe(false);
  });

  test('a namespace that is not there', async () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace: 'gone' },
    };
    await install('no-namespace', object);
    expect(await failure('no-namespace')).toContain('namespaces "gone" not found');
  });

  test('an object that the API server refuses is named', async () => {
    await install('invalid', aDeployment('Invalid_Name'));
    const message = await failure('invalid');
    expect(message).toContain('Deployment');
    expect(message).toContain('Invalid_Name');
  });
});

test('a deployment that is deleted and made again at once gets healthy', async () => {
  await install('again', aConfigMap('again-1'), aConfigMap('again-2'), aDeployment('again'));
  await condition('again', 'Healthy', { status: 'True' });
  const { uid } = (await kubectl.get('bundledeployment', 'again')).metadata;
  await kubectl.deleteNamed('bundledeployment', ['again']);
  await install('again', aConfigMap('again-1'), aConfigMap('again-2'), aDeployment('again'));
  await eventually(async () => {
    const deployment = await kubectl.get('bundledeployment', 'again');
    expect(deployment.metadata.uid).not.toBe(uid);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
    for (const name of ['again-1', 'again-2']) {
      const { annotations } = (await kubectl.get('configmap', name, 'default')).metadata;
      expect(annotations).toMatchObject({
        'core.rukpak.io/tracking-id': `${deployment.metadata.uid}:/ConfigMap:default/${name}`,
      });
    }
  });
});

test('a deleted deployment leaves nothing', async () => {
  await kubectl.deleteAll('bundledeployments');
  const selector = 'core.rukpak.io/owner-kind=BundleDeployment';
  await eventually(async () => {
    expect(await kubectl.list('bundles,configmaps,deployments', selector)).toEqual([]);
    // The API server was seen to take minutes to empty a kind.
    const definitions = await kubectl.list('customresourcedefinitions', selector);
    const kept = definitions.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(kept).toEqual([]);
  }, patiently);
});
