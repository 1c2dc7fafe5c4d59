import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { label } from '../../api/v1alpha1/index.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { followHowto } from '../helpers/howto.ts';
import { Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { System } from '../helpers/system.ts';
import { TestOperator, type TestOperatorOptions } from '../helpers/test-operator.ts';

const kubeconfig = plane.kubeconfig;
const registry = plane.registry;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });

let system: System;

const proxies = 'proxies.config.openshift.io';

beforeAll(async () => {
  // As on the clusters that have proxies: from the start.
  await kubectl.apply(aCrd(proxies, { kind: 'Proxy' }));
  await kubectl.must(['wait', '--for=condition=Established', `crd/${proxies}`, '--timeout=300s']);
  system = await System.start({ kubeconfig, registry });
});

afterEach(async () => {
  await kubectl.deleteAll('bundledeployments');
  await eventually(async () => {
    expect(await kubectl.list('bundles')).toEqual([]);
    expect(await kubectl.list('clusterroles', label.ownerName)).toEqual([]);
  }, patiently);
});

afterAll(async () => {
  await removeCrd(proxies);
  await system.stop();
});

function anOperator(name: string, options: Partial<TestOperatorOptions> = {}): TestOperator {
  const modes = ['AllNamespaces'];
  return new TestOperator({ kubectl, registry, name, modes, ...options });
}

/** The Deployment of an operator, once it is healthy. */
async function deploymentOf(operator: TestOperator): Promise<KubernetesObject> {
  await operator.healthy();
  const [deployment] = await operator.objects('deployments');
  return deployment as KubernetesObject;
}

interface PodTemplate {
  readonly metadata: KubernetesObject['metadata'];
  readonly spec: PodSpec;
}

interface PodSpec {
  readonly containers: readonly Container[];
  readonly [field: string]: unknown;
}

interface Container {
  readonly env?: readonly object[];
  readonly [field: string]: unknown;
}

function templateOf(deployment: KubernetesObject): PodTemplate {
  return (deployment as unknown as { spec: { template: PodTemplate } }).spec.template;
}

function containerOf(deployment: KubernetesObject): Container {
  return templateOf(deployment).spec.containers[0] ?? {};
}

const watched = {
  name: 'WATCH_NAMESPACE',
  valueFrom: {
    fieldRef: { apiVersion: 'v1', fieldPath: "metadata.annotations['olm.targetNamespaces']" },
  },
};

const nodeAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [
      { matchExpressions: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }] },
    ],
  },
};

const overrides = {
  env: [
    { name: 'LOG_LEVEL', value: 'debug' },
    { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'token', optional: true } } },
  ],
  envFrom: [{ prefix: 'MORE_', configMapRef: { name: 'more', optional: true } }],
  volumes: [{ name: 'scratch', emptyDir: { medium: 'Memory' } }],
  volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  tolerations: [{ key: 'infra', operator: 'Exists', effect: 'NoSchedule' }],
  resources: { limits: { memory: '64Mi' }, requests: { cpu: '10m', memory: '64Mi' } },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  affinity: { nodeAffinity },
  annotations: { 'example.com/team': 'shop' },
};

describe('what spec.config overrides', () => {
  test('is in the operator’s Deployment, and goes with spec.config', async () => {
    const name = 'overridden';
    const operator = anOperator(name);
    await operator.rollOut(overrides);
    const deployment = await deploymentOf(operator);
    const { metadata, spec } = templateOf(deployment);
    const { env, envFrom, volumeMounts, resources } = containerOf(deployment);
    expect(env).toEqual([watched, ...overrides.env]);
    expect({ ...spec, envFrom, volumeMounts, resources }).toMatchObject({
      volumes: overrides.volumes,
      tolerations: overrides.tolerations,
      nodeSelector: overrides.nodeSelector,
      affinity: overrides.affinity,
      envFrom: overrides.envFrom,
      volumeMounts: overrides.volumeMounts,
      resources: overrides.resources,
    });
    expect(metadata.annotations).toEqual({
      ...overrides.annotations,
      'olm.targetNamespaces': '',
    });
    expect(deployment.metadata.annotations).toMatchObject(overrides.annotations);

    await operator.rollOut();
    const bare = await deploymentOf(operator);
    expect(containerOf(bare).env).toEqual([watched]);
    const rest = { ...templateOf(bare).spec, ...containerOf(bare) };
    for (const field of ['volumes', 'tolerations', 'nodeSelector', 'affinity', 'envFrom']) {
      expect(rest).not.toHaveProperty(field);
    }
    expect(rest).not.toHaveProperty('volumeMounts');
    expect(containerOf(bare)['resources']).toEqual({});
    expect(templateOf(bare).metadata.annotations).toEqual({ 'olm.targetNamespaces': '' });
    expect(bare.metadata.annotations).not.toHaveProperty('example.com/team');
  });

  test('is refused where a field is wrong, by its name', async () => {
    const operator = anOperator('mistaken');
    await operator.rollOut({ env: [{ name: 'PORT', value: 8080 }] });
    await operator.refused(
      'parse deployment config: spec.config.env[0].value is a number: it must be a string, so put it in quotes',
    );
  });
});

describe('every operator', () => {
  test('knows by a fieldRef its namespaces, and is told of no OperatorCondition', async () => {
    const name = 'plain-operator';
    const operator = anOperator(name);
    await operator.rollOut();
    expect(containerOf(await deploymentOf(operator)).env).toEqual([watched]);
    expect(await operator.watches()).toEqual({ [`${name}-system`]: '' });
    const account = `system:serviceaccount:${name}-system:${name}`;
    const question = ['auth', 'can-i', 'watch', 'namespaces', `--as=${account}`];
    // The API server heeds a binding a moment after it was made.
    await eventually(async () => {
      expect((await kubectl.run(question)).stdout.trim()).toBe('yes');
    });
  });
});

interface CrdSpec {
  readonly group: string;
  readonly names: object;
  readonly scope: string;
  readonly versions: readonly object[];
}

function aCrd(
  name: string,
  { scope = 'Cluster', version = 'v1', kind = 'Thing' },
): KubernetesObject & { readonly spec: CrdSpec } {
  const [plural = '', ...group] = name.split('.');
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group: group.join('.'),
      names: { kind, plural, singular: kind.toLowerCase() },
      scope,
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}

/** The API server takes minutes over a CRD that is deleted before its storage is ready. */
async function removeCrd(name: string): Promise<void> {
  if (!(await kubectl.exists('crd', name))) return;
  await eventually(async () => await kubectl.must(['get', name, '--all-namespaces']));
  await kubectl.deleteNamed('crd', [name]);
}

describe('the proxies of a cluster', () => {
  test('are in the operator’s containers, and change with the cluster', async () => {
    const operator = anOperator('behind-proxy');
    await kubectl.apply(aProxy({ httpProxy: 'http://proxy:3128', noProxy: '.svc' }));
    await operator.rollOut();
    await hasEnv(operator, { HTTP_PROXY: 'http://proxy:3128', NO_PROXY: '.svc' });

    await kubectl.apply(aProxy({ httpsProxy: 'http://proxy:3129' }));
    await hasEnv(operator, { HTTPS_PROXY: 'http://proxy:3129' });

    await operator.rollOut({ env: [{ name: 'NO_PROXY', value: '*' }] });
    await hasEnv(operator, { NO_PROXY: '*' });
    await operator.rollOut();
    await hasEnv(operator, { HTTPS_PROXY: 'http://proxy:3129' });

    await kubectl.deleteNamed(proxies, ['cluster']);
    await hasEnv(operator, {});
  });

  function aProxy(status: object): object {
    const metadata = { name: 'cluster' };
    return { apiVersion: 'config.openshift.io/v1', kind: 'Proxy', metadata, status };
  }

  async function hasEnv(
    operator: TestOperator,
    expected: Readonly<Record<string, string>>,
  ): Promise<void> {
    const variables = Object.entries(expected).map(([key, value]) => ({ name: key, value }));
    await eventually(async () => {
      const { env = [] } = containerOf(await deploymentOf(operator));
      const found = env.filter((each) => (each as { name: string }).name.endsWith('_PROXY'));
      expect(found).toEqual(variables);
    });
  }
});

describe('what an operator needs of the cluster', () => {
  function needing(crd: string): object {
    const required = [{ name: crd, version: 'v1', kind: 'Gadget' }];
    return { customresourcedefinitions: { required } };
  }

  test('is named while it is missing, and the operator goes on once it is there', async () => {
    const crd = 'gadgets.needed.example.com';
    const operator = anOperator('needy', { spec: needing(crd) });
    await operator.rollOut();
    try {
      await operator.refused(
        `the operator needs APIs that the cluster does not serve: CustomResourceDefinition ${crd} with version v1: install what provides it, and core continues by itself`,
      );
      expect(await operator.objects('deployments')).toEqual([]);
      await kubectl.apply(aCrd(crd, { kind: 'Gadget' }));
      await operator.healthy();
    } finally {
      await removeCrd(crd);
    }
  });

  test('blocks only the upgrade: the installed objects are kept in place until it is served', async () => {
    const name = 'growing';
    const crd = 'gadgets.awaited.example.com';
    const operator = anOperator(name);
    await operator.rollOut();
    const first = await operator.healthy();
    const next = anOperator(name, { version: 2, spec: needing(crd) });
    await next.rollOut();
    try {
      await next.refused(
        expect.stringContaining(`CustomResourceDefinition ${crd} with version v1`),
      );
      const [deployment] = await operator.objects('deployments');
      expect(containerOf(deployment as KubernetesObject).env).toEqual([watched]);
      const { namespace = '' } = deployment?.metadata ?? {};
      await kubectl.deleteAll('deployments', { namespace, ignoreNotFound: true });
      await eventually(async () => expect(await operator.objects('deployments')).toHaveLength(1));
      await kubectl.apply(aCrd(crd, { kind: 'Gadget' }));
      await eventually(async () => expect(await next.healthy()).not.toBe(first));
    } finally {
      await removeCrd(crd);
    }
  });

  test('is a version of Kubernetes, where the CSV says so', async () => {
    const name = 'futuristic';
    const operator = anOperator(name, { spec: { minKubeVersion: '1.99.0' } });
    await operator.rollOut();
    await operator.condition('HasValidBundle', {
      status: 'False',
      message: expect.stringMatching(
        /^the operator needs Kubernetes 1\.99\.0 or later \(spec\.minKubeVersion\), and the cluster has v1\.\d+\.\d+.*: upgrade the cluster, or install an earlier version of the operator$/,
      ),
    });
    const earlier = anOperator(name, { version: 2, spec: { minKubeVersion: '1.19.0-0' } });
    await earlier.rollOut();
    await earlier.healthy();
  });
});

test('kinds that OLM has learned since are installed, and custom resources that share a kind’s name', async () => {
  const crd = 'roles.iam.example.com';
  const metadata = { name: 'painters' };
  const objects = {
    crd: aCrd(crd, { kind: 'Role' }),
    role: { apiVersion: 'iam.example.com/v1', kind: 'Role', metadata },
    policy: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata,
      spec: { podSelector: {} },
    },
  };
  const files = Object.entries(objects).map(([name, object]) => {
    return [`manifests/${name}.yaml`, stringifyJson(object)] as const;
  });
  const operator = anOperator('manifold', { files: Object.fromEntries(files) });
  await operator.rollOut();
  await operator.healthy();
  await eventually(async () => expect(await operator.objects(crd)).toMatchObject([{ metadata }]));
  expect(await operator.objects('networkpolicies')).toMatchObject([
    { metadata: { ...metadata, namespace: 'manifold-system' } },
  ]);
});

/** Files of a bundle with a CRD of Roles, and one Role of it. */
function roleFiles(group: string, role: { readonly name: string; readonly effect: string }) {
  const crd = aCrd(`roles.${group}`, { kind: 'Role' });
  const [version] = crd.spec.versions;
  const effect = { type: 'string', enum: ['Allow', 'Deny'] };
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { effect } } },
  };
  const strict = { ...crd.spec, versions: [{ ...version, schema: { openAPIV3Schema } }] };
  const sample = {
    apiVersion: `${group}/v1`,
    kind: 'Role',
    metadata: { name: role.name },
    spec: { effect: role.effect },
  };
  return {
    'manifests/crd.yaml': stringifyJson({ ...crd, spec: strict }),
    'manifests/role.yaml': stringifyJson(sample),
  };
}

/** Waits for an Event of the operator's deployment. */
async function told(name: string, type: string, message: string): Promise<void> {
  await eventually(async () => {
    // The events of other tests' operators stay for an hour.
    expect(await kubectl.list('events')).toContainEqual(
      expect.objectContaining({
        involvedObject: expect.objectContaining({ name }),
        type,
        message: expect.stringContaining(message),
      }),
    );
  });
}

test('a custom resource that the operator’s own CRD refuses is left out, and an Event says so', async () => {
  const files = roleFiles('left-out.example.com', { name: 'bad', effect: 'Maybe' });
  const operator = anOperator('left-out', { files });
  await operator.rollOut();
  await operator.healthy();
  expect(await kubectl.list('roles.left-out.example.com')).toEqual([]);
  await told(
    'left-out',
    'Warning',
    'Role "bad" of left-out.example.com/v1 is left out: it does not fit the bundle\'s CRD of Role: spec.effect: Unsupported value',
  );
});

test('an installed custom resource that a later version leaves out stays, and an Event says so', async () => {
  const group = 'left-later.example.com';
  const files = roleFiles(group, { name: 'used', effect: 'Allow' });
  await anOperator('left-later', { files }).rollOut();
  const operator = anOperator('left-later', {
    files: roleFiles(group, { name: 'used', effect: 'Maybe' }),
    version: 2,
  });
  const first = await operator.healthy();
  const [role] = await operator.objects(`roles.${group}`);
  expect(role).toMatchObject({ metadata: { name: 'used' }, spec: { effect: 'Allow' } });
  await operator.rollOut();
  await eventually(async () => expect(await operator.healthy()).not.toBe(first));
  await told('left-later', 'Normal', 'its class leaves it out: it does not fit');
  expect(await operator.objects(`roles.${group}`)).toEqual([]);
  expect(await kubectl.list(`roles.${group}`)).toMatchObject([
    { metadata: { uid: role?.metadata.uid }, spec: { effect: 'Allow' } },
  ]);
});

test('a CRD of v1beta1 is refused when the bundle is unpacked', async () => {
  const crd = { ...aCrd('olds.example.com', {}), apiVersion: 'apiextensions.k8s.io/v1beta1' };
  const operator = anOperator('oldtimer', { files: { 'manifests/crd.yaml': stringifyJson(crd) } });
  await operator.rollOut();
  await operator.condition('HasValidBundle', {
    status: 'False',
    reason: 'UnpackFailed',
    message: expect.stringContaining(
      'convert registry+v1 bundle to plain+v0 bundle: bundle contains CustomResourceDefinitions that no cluster since Kubernetes 1.22 takes: olds.example.com is of apiextensions.k8s.io/v1beta1; take a later version of the operator, or have its CRDs rewritten for apiextensions.k8s.io/v1',
    ),
  });
});

test('the session of the howto goes as it is written', { tags: 'long' }, async () => {
  const howto = { page: 'operator-config.md', kubectl, kubeconfig };
  const printed = await followHowto(howto, 'A session');
  expect(printed).toContain('WATCH_NAMESPACE LOG_LEVEL');
  expect(printed).toContain(
    'parse deployment config: spec.config.env[0].value is a number: it must be a string, so put it in quotes',
  );
  await followHowto(howto, 'The end of the session');
});
