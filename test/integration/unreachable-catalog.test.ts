import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { type BundleDeployment, bundleDeploymentResource } from '../../api/v1alpha1/index.ts';
import { bundleName, templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { connect } from '../../core/platform/kube/index.ts';
import { CountingClient } from '../helpers/counting-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { FlakyRegistry } from '../helpers/flaky-registry.ts';
import { installCrds, installOperatorCrds, removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { ManualClock } from '../helpers/manual-clock.ts';
import { OperatorsReplica } from '../helpers/operators-replica.ts';
import { plane } from '../helpers/plane.ts';
import { pushCatalog } from '../helpers/push-catalog.ts';
import { aTestNamespace } from '../helpers/test-namespace.ts';

const { kubeconfig } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const kube = connect({ kubeconfig, userAgent: 'unreachable-catalog-test/1' });
const repository = `catalogs-test/${Date.now()}/unreachable`;
const operators = 'operators.operators.operatorframework.io';
const minute = 60_000;
/** Longer than the interval of polls, and than the longest pause between two retries. */
const step = 6 * minute;

const client = new CountingClient(kube.client);
let registry: FlakyRegistry;
let clock: ManualClock;
let directory: string;
let namespace: string;
let drop: () => Promise<void>;
let replicas: OperatorsReplica[] = [];

const names = ['unreachable-operator', 'unreachable-extension'] as const;
const kinds = [operators, 'clusterextension'] as const;
const catalogKinds = ['catalog', 'clustercatalog'] as const;

beforeAll(async () => {
  // Files before may have deleted them.
  await installCrds(kubeconfig);
  await installOperatorCrds(kubeconfig);
  ({ namespace, drop } = await aTestNamespace(kube.client, 'unreachable'));
});

afterAll(async () => {
  await removeOperatorCrds(kubeconfig);
  await drop();
  await kube.close();
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'unreachable-catalog-'));
  registry = await FlakyRegistry.start(plane.registry);
  clock = new ManualClock();
  await pushVersions('1.0.0');
  const leader = await start('first');
  await leader.lead();
  await kubectl.apply(...objects());
  for (const [index, name] of names.entries()) {
    await coreInstalls(name);
    await isInstalled(index, '1.0.0');
  }
});

afterEach(async () => {
  await kubectl.delete(objects().slice(0, 2));
  await kubectl.delete(names.map((name) => ({ ...deployment, metadata: { name } })));
  const cleaner = await start('cleaner');
  await cleaner.lead();
  await kubectl.delete(objects());
  for (const replica of replicas) await replica.stop();
  replicas = [];
  await registry.stop();
  await rm(directory, { recursive: true });
});

const deployment = { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'BundleDeployment' };

/** A replica with a disk of its own, which outlives it. */
async function start(disk: string): Promise<OperatorsReplica> {
  const replica = await OperatorsReplica.start({
    client,
    registry: registry.host,
    systemNamespace: namespace,
    cacheDir: join(directory, disk),
    clock,
  });
  replicas.push(replica);
  return replica;
}

/** Until it serves all catalogs: what it reads from its disk is there before the time passes. */
async function serves({ catalogs: { controllers } }: OperatorsReplica): Promise<void> {
  await eventually(() => expect(controllers.contents.serving()).toHaveLength(catalogKinds.length));
}

async function stop(replica: OperatorsReplica): Promise<void> {
  replicas = replicas.filter((other) => other !== replica);
  await replica.stop();
}

/** A package whose versions each replace the one before. */
async function pushVersions(...versions: readonly string[]): Promise<void> {
  const name = 'unreachable';
  const entries = versions.map((version, index) => ({
    name: `${name}.v${version}`,
    ...(index === 0 ? {} : { replaces: `${name}.v${versions[index - 1]}` }),
  }));
  const blobs = [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries },
    ...versions.map((version) => ({
      schema: 'olm.bundle',
      package: name,
      name: `${name}.v${version}`,
      image: `quay.example/${name}:v${version}`,
      properties: [{ type: 'olm.package', value: { packageName: name, version } }],
    })),
  ];
  const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
  await pushCatalog(`${plane.registry}/${repository}:v1`, { 'catalog.json': text });
}

function objects(): readonly object[] {
  const ref = `${registry.host}/${repository}:v1`;
  const version = '>=1.0.0';
  const packageName = 'unreachable';
  const olm = 'olm.operatorframework.io/v1';
  return [
    {
      apiVersion: 'operators.operatorframework.io/v1alpha1',
      kind: 'Operator',
      metadata: { name: names[0] },
      spec: { packageName, version },
    },
    {
      apiVersion: olm,
      kind: 'ClusterExtension',
      metadata: { name: names[1] },
      spec: {
        namespace: 'default',
        source: { sourceType: 'Catalog', catalog: { packageName, version } },
      },
    },
    {
      apiVersion: 'catalogd.operatorframework.io/v1alpha1',
      kind: 'Catalog',
      metadata: { name: 'unreachable' },
      spec: { source: { type: 'image', image: { ref, pollInterval: '5m' } } },
    },
    {
      apiVersion: olm,
      kind: 'ClusterCatalog',
      metadata: { name: 'unreachable' },
      spec: { source: { type: 'Image', image: { ref, pollIntervalMinutes: 5 } } },
    },
  ];
}

/** What core writes when it has installed a BundleDeployment. */
async function coreInstalls(name: string): Promise<void> {
  const found = (await eventually(async () => {
    return await kubectl.get('bundledeployment', name);
  })) as BundleDeployment;
  const observedGeneration = found.metadata.generation;
  const common = { status: 'True', reason: 'Healthy', message: '', observedGeneration };
  const lastTransitionTime = new Date(clock.now()).toISOString();
  const status = {
    observedGeneration,
    activeBundle: bundleName(name, templateHash(found.spec.template)),
    conditions: ['Installed', 'Healthy', 'Ready'].map((type) => {
      return { type, ...common, lastTransitionTime };
    }),
  };
  const target = { resource: bundleDeploymentResource, key: { name } };
  await kube.client.patch(target, { status }, { type: 'merge', subresource: 'status' });
}

async function isInstalled(index: number, version: string): Promise<void> {
  await eventually(async () => {
    const object = await kubectl.get(kinds[index] ?? '', names[index] ?? '');
    const { installed, install } = object['status'] as {
      readonly installed?: { readonly version: string };
      readonly install?: { readonly bundle: { readonly version: string } };
    };
    expect((installed ?? install?.bundle)?.version).toBe(version);
    expect(conditionOf(object, 'Ready')).toMatchObject({ status: 'True' });
  });
}

async function catalogs(): Promise<readonly KubernetesObject[]> {
  return await Promise.all(catalogKinds.map((kind) => kubectl.get(kind, 'unreachable')));
}

/** The objects of the users, and what is installed for them, with their versions. */
async function installed(): Promise<readonly KubernetesObject[]> {
  const all = await kubectl.list(`${operators},clusterextensions,bundledeployments`);
  return all.filter(({ metadata: { name = '' } }) => name.startsWith('unreachable-'));
}

async function saySince(time: string): Promise<void> {
  await eventually(async () => {
    for (const catalog of await catalogs()) {
      expect(conditionOf(catalog, 'Ready')).toMatchObject({
        status: 'False',
        lastTransitionTime: time,
        message: expect.stringContaining(registry.host),
      });
    }
  });
}

/** Lets the time pass; each step is longer than any pause between two tries. */
async function pass(steps: number): Promise<void> {
  for (let index = 0; index < steps; index += 1) {
    const { refused } = registry;
    clock.advance(step);
    await eventually(() => expect(registry.refused).toBeGreaterThan(refused));
  }
}

test('an hour without the catalog, with another leader and restarts in it, changes nothing', async () => {
  const [first] = replicas as [OperatorsReplica];
  const second = await start('second');
  await serves(second);
  const before = await installed();
  expect(before).toHaveLength(4);
  client.taken();
  registry.cutOff();
  await pushVersions('1.0.0', '1.1.0');
  const since = new Date(clock.now() + step).toISOString().replace('.000Z', 'Z');
  await pass(1);
  await saySince(since);
  await pass(3);
  await first.resign();
  await second.lead();
  await pass(3);
  await stop(first);
  await second.resign();
  const restarted = await start('first');
  await serves(restarted);
  await restarted.lead();
  await pass(3);
  await saySince(since);
  expect(clock.monotonic()).toBeGreaterThanOrEqual(60 * minute);
  expect(registry.refused).toBeLessThan(100);
  expect(await installed()).toEqual(before);
  expect(client.taken().filter((request) => request.includes('unreachable-'))).toEqual([]);

  registry.isReachable = true;
  for (const [index, name] of names.entries()) {
    await eventually(async () => {
      // A try that is under way may still fail.
      clock.advance(step);
      const { metadata } = await kubectl.get('bundledeployment', name);
      expect(metadata.generation).toBe(2);
    });
    await coreInstalls(name);
    await isInstalled(index, '1.1.0');
  }
  await eventually(async () => {
    for (const catalog of await catalogs()) {
      expect(conditionOf(catalog, 'Ready')).toMatchObject({ status: 'True' });
    }
  });
});

test('a process without its disk keeps what is installed, and says what is missing', async () => {
  const [first] = replicas as [OperatorsReplica];
  const deployments = await kubectl.list('bundledeployments');
  await stop(first);
  registry.cutOff();
  client.taken();
  const next = await start('lost');
  await next.lead();
  await eventually(async () => {
    for (const [index, name] of names.entries()) {
      const object = await kubectl.get(kinds[index] ?? '', name);
      expect(conditionOf(object, 'Installed')).toMatchObject({ status: 'True' });
      expect(conditionOf(object, 'Ready')).toMatchObject({
        status: 'False',
        message: expect.stringContaining('(bundle "unreachable.v1.0.0" stays installed)'),
      });
    }
  });
  registry.isReachable = true;
  await eventually(async () => {
    // A try that is under way may still fail.
    clock.advance(step);
    for (const [index, name] of names.entries()) {
      const object = await kubectl.get(kinds[index] ?? '', name);
      expect(conditionOf(object, 'Ready')).toMatchObject({ status: 'True' });
    }
  });
  expect(client.taken().filter((request) => request.includes('BundleDeployment'))).toEqual([]);
  expect(await kubectl.list('bundledeployments')).toEqual(deployments);
});
