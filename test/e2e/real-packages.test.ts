// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually, patiently } from '../helpers/eventually.ts';
import { removeOperatorCrds } from '../helpers/install-crds.ts';
import { conditionOf, Kubectl } from '../helpers/kubectl.ts';
import { plane } from '../helpers/plane.ts';
import { realBundles } from '../helpers/real-bundles.ts';
import {
  mirrorFlag,
  publishedPackages,
  pushRealCatalogs,
  type RealPackage,
  realPackagesArePresent,
} from '../helpers/real-packages.ts';
import { rukpakctl } from '../helpers/rukpakctl.ts';
import { System } from '../helpers/system.ts';
import type { TestedBundle } from '../helpers/tested-bundle.ts';

const { kubeconfig, registry } = plane;
const kubectl = new Kubectl({ path: plane.kubectl, kubeconfig });
const operators = 'operators.operators.operatorframework.io';
/** A label of the namespaces that users would have made. */
const madeHere = 'example.com/real-packages';
const present = realPackagesArePresent();

let dir: string;
let system: System;
let packages: readonly RealPackage[] = [];
const rows: (readonly string[])[] = [];

beforeAll(async () => {
  if (!present) return;
  dir = await mkdtemp(join(tmpdir(), 'rukpak-real-packages-'));
  const pushed = await pushRealCatalogs({ registry, dir });
  packages = pushed.packages;
  const flags = [await mirrorFlag({ registry, dir })];
  system = await System.start({ kubeconfig, registry, installFlags: ['--operators'], flags });
  const { published, rebuilt } = pushed.refs;
  await kubectl.apply(
    aCatalog('published', published),
    aCatalog('rebuilt', rebuilt),
    aClusterCatalog('rebuilt', rebuilt),
  );
  for (const name of ['published', 'rebuilt']) {
    await eventually(async () => {
      expect(conditionOf(await kubectl.get('catalog', name), 'Ready')?.status).toBe('True');
    });
  }
});

afterAll(async () => {
  if (!present) return;
  await kubectl.deleteAll(`${operators},clusterextensions`, { wait: false, ignoreNotFound: true });
  await kubectl.deleteAll('bundledeployments', { ignoreNotFound: true });
  await kubectl.deleteAll('catalogs,clustercatalogs', { ignoreNotFound: true });
  await kubectl.deleteAll('namespaces', { selector: madeHere, wait: false, ignoreNotFound: true });
  await system.stop();
  await removeOperatorCrds(kubeconfig);
  await rm(dir, { recursive: true, force: true });
  const lines = rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  console.log(
    ['package | version | kind | result', ...lines.map((row) => row.join(' | '))].join('\n'),
  );
});

function aCatalog(name: string, ref: string): object {
  return {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name },
    spec: { source: { type: 'image', image: { ref } } },
  };
}

function aClusterCatalog(name: string, ref: string): object {
  return {
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterCatalog',
    metadata: { name },
    spec: { source: { type: 'Image', image: { ref } } },
  };
}

function anOperator(name: string, spec: object): object {
  return {
    apiVersion: 'operators.operatorframework.io/v1alpha1',
    kind: 'Operator',
    metadata: { name },
    spec,
  };
}

/** One that watches the namespace that it is installed in. */
async function ofOwnNamespace(name: string, { packageName, version }: RealPackage) {
  const metadata = { name, labels: { [madeHere]: '' } };
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata });
  const source = { sourceType: 'Catalog', catalog: { packageName, version } };
  const config = { configType: 'Inline', inline: { watchNamespace: name } };
  await kubectl.apply({
    apiVersion: 'olm.operatorframework.io/v1',
    kind: 'ClusterExtension',
    metadata: { name },
    spec: { namespace: name, source, config },
  });
}

function packageOf({ name }: TestedBundle): RealPackage {
  const found = packages.find(({ bundle }) => bundle.name === name);
  if (found === undefined) throw new Error(`${name} is in no catalog`);
  return found;
}

/** A name that a BundleDeployment can have. */
function nameOf({ name }: TestedBundle): string {
  return name.slice(0, name.indexOf('/')).slice(0, 40);
}

async function isInstalled(kind: string, name: string, version: string): Promise<void> {
  await eventually(async () => {
    const object = await kubectl.get(kind, name);
    expect(conditionOf(object, 'Installed')).toMatchObject({ status: 'True' });
    const { installed, install } = object['status'] as {
      readonly installed?: { readonly version: string };
      readonly install?: { readonly bundle: { readonly version: string } };
    };
    expect((installed ?? install?.bundle)?.version).toBe(version);
  }, patiently);
}

async function isHealthy(kind: string, name: string, version: string): Promise<void> {
  await isInstalled(kind, name, version);
  await eventually(async () => {
    expect(conditionOf(await kubectl.get(kind, name), 'Ready')).toMatchObject({ status: 'True' });
    const deployment = await kubectl.get('bundledeployment', name);
    expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
  }, patiently);
}

async function conditionWith(
  name: string,
  type: string,
  expected: object,
): Promise<KubernetesObject> {
  return await eventually(async () => {
    const object = await kubectl.get(operators, name);
    expect(conditionOf(object, type)).toMatchObject(expected);
    return object;
  }, patiently);
}

async function remove(kind: string, name: string): Promise<void> {
  await kubectl.deleteNamed(kind, [name]);
  await eventually(async () => {
    expect(await kubectl.exists('bundledeployment', name)).toBe(false);
  }, patiently);
}

test.skipIf(!present)('search lists every package', async () => {
  const env = { KUBECONFIG: kubeconfig };
  const { code, stdout, stderr } = await rukpakctl(['operator', 'search'], { env });
  expect(code, stderr).toBe(0);
  const found = new Set(stdout.split('\n').map((line) => line.split(/ {2,}/)[0]));
  const names = [...packages.map(({ packageName }) => packageName), ...publishedNames()];
  expect(names.filter((name) => !found.has(name))).toEqual([]);
});

/** Their webhooks are asked about every Pod or Namespace there is, and nobody answers here. */
const meddlesome = new Set(['dynatrace-operator/0.8.0', 'eginnovations-operator/0.0.2']);
const upgraded = /^vault-config-operator\//;

/** Packages that no catalog has, by the bundles that require them. */
const dependencies: Readonly<Record<string, string>> = {
  'dbaas-operator/0.5.0': 'ack-rds-controller',
  'kuadrant-operator/0.4.0': 'authorino-operator',
  'ndmspc-operator/0.20250209.0': 'knative-operator',
  'pelorus-operator/0.0.2': 'grafana-operator',
};

const dependent = realBundles.filter(({ name }) => Object.hasOwn(dependencies, name));
const others = realBundles.filter(
  (bundle) => !upgraded.test(bundle.name) && !dependent.includes(bundle),
);
const refused = others.filter(({ withoutConfig }) => typeof withoutConfig === 'string');
const accepted = others.filter((bundle) => !refused.includes(bundle));
const requiring = accepted.filter(({ required }) => required.length > 0);
const installable = accepted.filter((each) => !requiring.includes(each));
/** The Pods of those with foreign kinds need nodes of OpenShift. */
const ofOneNamespace = refused.filter(
  ({ modes, required, foreign }) =>
    typeof modes.get('OwnNamespace') === 'number' && required.length + foreign.length === 0,
);

describe.skipIf(!present).concurrent('a package', () => {
  test.each(installable.filter(({ name }) => !meddlesome.has(name)))(
    '$name is installed to Healthy, and goes',
    async (bundle) => {
      const name = nameOf(bundle);
      const { packageName, version } = packageOf(bundle);
      await kubectl.apply(anOperator(name, { packageName, version }));
      await isHealthy(operators, name, version);
      rows.push([packageName, version, 'Operator', 'Healthy']);
      await remove(operators, name);
    },
  );

  test.each(refused)('$name says why an Operator cannot install it', async (bundle) => {
    const name = nameOf(bundle);
    const { packageName, version } = packageOf(bundle);
    await kubectl.apply(anOperator(name, { packageName, version }));
    const [line = ''] = String(bundle.withoutConfig).split('\n');
    const failed = { status: 'False', reason: 'InstallationFailed' };
    const object = await conditionWith(name, 'Installed', failed);
    expect(conditionOf(object, 'Installed')?.message).toContain(line);
    expect(conditionOf(object, 'Ready')).toMatchObject({ status: 'False' });
    rows.push([packageName, version, 'Operator', line]);
    await remove(operators, name);
  });

  test.each(ofOneNamespace)('$name is installed by a ClusterExtension', async (bundle) => {
    const name = `own-${nameOf(bundle)}`;
    const found = packageOf(bundle);
    await ofOwnNamespace(name, found);
    await isHealthy('clusterextension', name, found.version);
    rows.push([found.packageName, found.version, 'ClusterExtension', 'Healthy']);
    await remove('clusterextension', name);
  });

  test.each(requiring)('$name waits for the kinds that it needs', async (bundle) => {
    const name = nameOf(bundle);
    const { packageName, version } = packageOf(bundle);
    await kubectl.apply(anOperator(name, { packageName, version }));
    const message = expect.stringContaining('APIs that the cluster does not serve');
    await conditionWith(name, 'Ready', { status: 'False', message });
    rows.push([packageName, version, 'Operator', 'waits for kinds of other operators']);
    await remove(operators, name);
  });

  test.each(dependent)('$name says which package it requires', async (bundle) => {
    const name = nameOf(bundle);
    const { packageName, version } = packageOf(bundle);
    await kubectl.apply(anOperator(name, { packageName, version }));
    const required = dependencies[bundle.name] ?? '';
    const message = expect.stringContaining(`that has package "${required}"`);
    await conditionWith(name, 'Ready', { status: 'False', message });
    rows.push([packageName, version, 'Operator', `requires package ${required}`]);
    await remove(operators, name);
  });

  test.each(publishedNames())(
    '%s, whose image is not at hand, is resolved',
    async (packageName) => {
      const name = `published-${packageName}`.slice(0, 45);
      await kubectl.apply(anOperator(name, { packageName }));
      const object = await conditionWith(name, 'Resolved', { status: 'True' });
      await conditionWith(name, 'Ready', {
        status: 'False',
        message: expect.stringContaining('Back-off pulling image'),
      });
      const { available } = object['status'] as { readonly available?: { version: string } };
      rows.push([packageName, available?.version ?? '', 'Operator', 'resolved; no image at hand']);
      await remove(operators, name);
    },
  );
});

function publishedNames(): readonly string[] {
  return present ? publishedPackages().filter((name) => name !== 'infinispan') : [];
}

describe.skipIf(!present)('a package, alone', () => {
  test('vault-config-operator is upgraded along its channel', async () => {
    const name = 'vault-config-operator';
    await kubectl.apply(anOperator(name, { packageName: name, version: '0.8.49' }));
    await isHealthy(operators, name, '0.8.49');
    await kubectl.apply(anOperator(name, { packageName: name, version: '>=0.8.49' }));
    await isHealthy(operators, name, '0.8.52');
    rows.push([name, '0.8.49, then 0.8.52', 'Operator', 'Healthy, upgraded']);
    await remove(operators, name);
  });

  test('dynatrace-operator is installed to Healthy', async () => {
    const name = 'dynatrace-operator';
    await kubectl.apply(anOperator(name, { packageName: name, version: '0.8.0' }));
    await isHealthy(operators, name, '0.8.0');
    rows.push([name, '0.8.0', 'Operator', 'Healthy']);
    await remove(operators, name);
  });

  // Without an operator that answers, its webhook refuses every Pod, the operator's own too.
  test('eginnovations-operator is installed', async () => {
    const name = 'eginnovations-operator';
    await kubectl.apply(anOperator(name, { packageName: name, version: '0.0.2' }));
    await isInstalled(operators, name, '0.0.2');
    rows.push([name, '0.0.2', 'Operator', 'installed; its webhook refuses its own Pods']);
    await remove(operators, name);
  });
});
